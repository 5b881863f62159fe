package lease

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-worklease/git-worklease/refstore"
)

var epoch = time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)

func testKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

// sample is a valid record signed by testKey(1).
func sample() *Record {
	key := testKey(1)
	return &Record{
		Authority: "a1", Resource: "task:demo", Claim: claimID(public(key)), Members: []Resource{"port:1", "task:demo"},
		Holder: Holder{Agent: "alice", Session: "main", Host: "box"}, Purpose: "try", Generation: 3, Revision: 1,
		TTLSeconds: 3600, GraceSeconds: 30, Takeover: TakeoverStale, Expiry: ExpiryClock, ClaimedAt: epoch, RenewedAt: epoch,
		State: StateActive, Meta: map[string]string{"branch": "issue/1"},
	}
}

// commit is the record as the store would give it.
func commit(t testing.TB, r *Record, n byte) refstore.Commit {
	t.Helper()
	message, err := r.encode(testKey(n))
	if err != nil {
		t.Fatal(err)
	}
	return refstore.Commit{Parent: r.Prev, When: r.RenewedAt, Message: message}
}

// signed is a commit of any line, signed by testKey(1).
func signed(line string) refstore.Commit {
	return refstore.Commit{Message: seal("x", []byte(line), testKey(1))}
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	c := commit(t, want, 1)
	if err := CheckCommit(c); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeRecord(c)
	if err != nil {
		t.Fatal(err)
	}
	got.raw = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	subject, _, _ := strings.Cut(string(c.Message), "\n")
	if subject != "claim task:demo · generation 3 · alice/main until 2026-11-29T16:00:00Z" {
		t.Errorf("subject %q", subject)
	}
	if again := commit(t, sample(), 1); !bytes.Equal(again.Message, c.Message) {
		t.Error("encoding differs from one time to the next")
	}
}

func TestSubjects(t *testing.T) {
	r := sample()
	r.Revision = 2
	if got := r.subject(); !strings.HasPrefix(got, "renew task:demo · generation 3") {
		t.Errorf("renewal: %q", got)
	}
	if got := r.tombstone("", 3, Release{Outcome: OutcomeReview}).subject(); got != "release task:demo · generation 3 · alice/main review" {
		t.Errorf("release: %q", got)
	}
	if got := r.tombstone("", 3, Release{Outcome: "a\n\nb"}).subject(); strings.Contains(got, "\n") {
		t.Errorf("odd release: %q", got)
	}
}

// TestRewriteKeepsUnknown plants members that this version does not know at every depth, and renews.
func TestRewriteKeepsUnknown(t *testing.T) {
	line, err := commitLine(t, sample())
	if err != nil {
		t.Fatal(err)
	}
	line = strings.Replace(line, `"holder":{`, `"holder":{"pronoun":["x", 1.50],`, 1)
	line = strings.Replace(line, `"v":1,`, `"v":1,"later":{"deep":[1,{"a":null}]},"Key":"x",`, 1)
	line = strings.Replace(line, `"Key":"x",`, "", 1)
	r, err := DecodeRecord(signed(line))
	if err != nil {
		t.Fatal(err)
	}
	next := r.renewed("", 2, epoch.Add(time.Minute))
	out, err := commitLine(t, next)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"pronoun":["x", 1.50]`, `"later":{"deep":[1,{"a":null}]}`, `"revision":2`, `"renewed_at":"2026-11-29T15:01:00Z"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
	if strings.Count(out, `"revision"`) != 1 {
		t.Errorf("a member twice: %s", out)
	}
}

func commitLine(t testing.TB, r *Record) (string, error) {
	t.Helper()
	_, line, _, err := open(commit(t, r, 1).Message)
	return string(line), err
}

func TestDecodeRefuses(t *testing.T) {
	good, err := commitLine(t, sample())
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) refstore.Commit {
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not in %s", old, good)
		}
		return signed(strings.Replace(good, old, new, 1))
	}
	tests := []struct {
		name string
		c    refstore.Commit
		want error
	}{
		{"as it is", signed(good), nil},
		{"unknown state", edit(`"state":"active"`, `"state":"paused"`), nil},
		{"unknown terms", edit(`"takeover":"stale"`, `"takeover":"never"`), nil},
		{"no form", refstore.Commit{Message: []byte("hello\n")}, ErrCorrupt},
		{"not JSON", signed(`{"v":1,`), ErrCorrupt},
		{"other kind", edit(`"kind":"lease"`, `"kind":"agent"`), ErrCorrupt},
		{"newer", edit(`"v":1`, `"v":2`), ErrNewer},
		{"newer and different", signed(`{"v":2,"resource":{"a":1}}`), ErrNewer},
		{"no version", edit(`"v":1,`, ``), ErrCorrupt},
		{"control character", edit(`"resource":"task:demo"`, `"resource":"task:\u0007"`), ErrCorrupt},
		{"blank", edit(`"resource":"task:demo"`, `"resource":" task:demo"`), ErrCorrupt},
		{"no agent", edit(`"agent":"alice"`, `"agent":""`), ErrCorrupt},
		{"long session", edit(`"session":"main"`, `"session":"`+strings.Repeat("s", 129)+`"`), ErrCorrupt},
		{"not a member", edit(`"members":["port:1","task:demo"]`, `"members":["port:1"]`), ErrCorrupt},
		{"not sorted", edit(`["port:1","task:demo"]`, `["task:demo","port:1"]`), ErrCorrupt},
		{"a member twice", edit(`["port:1","task:demo"]`, `["port:1","task:demo","task:demo"]`), ErrCorrupt},
		{"generation 0", edit(`"generation":3`, `"generation":0`), ErrCorrupt},
		{"negative revision", edit(`"revision":1`, `"revision":-1`), ErrCorrupt},
		{"short ttl", edit(`"ttl_seconds":3600`, `"ttl_seconds":9`), ErrCorrupt},
		{"long ttl", edit(`"ttl_seconds":3600`, `"ttl_seconds":86401`), ErrCorrupt},
		{"wrapping ttl", edit(`"ttl_seconds":3600`, `"ttl_seconds":-18446744063`), ErrCorrupt}, // 10.7 s in nanoseconds of 64 bits
		{"overflowing ttl", edit(`"ttl_seconds":3600`, `"ttl_seconds":9223372036854775807`), ErrCorrupt},
		{"long grace", edit(`"grace_seconds":30`, `"grace_seconds":3601`), ErrCorrupt},
		{"negative grace", edit(`"grace_seconds":30`, `"grace_seconds":-1`), ErrCorrupt},
		{"no stamp", edit(`"renewed_at":"2026-11-29T15:00:00Z"`, `"renewed_at":"0001-01-01T00:00:00Z"`), ErrCorrupt},
		{"released without a release", edit(`"state":"active"`, `"state":"released"`), ErrCorrupt},
		{"no state", edit(`"state":"active"`, `"state":""`), ErrCorrupt},
		{"another claim ID", edit(`"claim":"`, `"claim":"0`), ErrCorrupt},
		{"another parent", refstore.Commit{Parent: "1234", Message: signed(good).Message}, ErrCorrupt},
		{"33 members", edit(`["port:1","task:demo"]`, many(33)), ErrCorrupt},
		{"large checkpoint", edit(`"state":"active"`, `"checkpoint":"`+strings.Repeat("x", 9<<10)+`","state":"active"`), ErrCorrupt},
		{"too large", edit(`"purpose":"try"`, `"purpose":"`+strings.Repeat("x", 65<<10)+`"`), ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := DecodeRecord(tt.c); !errors.Is(err, tt.want) {
				t.Errorf("decode: %v, want %v", err, tt.want)
			}
			want := tt.want
			if errors.Is(want, ErrNewer) || tt.name == "other kind" {
				want = nil // not for the store to refuse
			}
			if err := CheckCommit(tt.c); !errors.Is(err, want) {
				t.Errorf("check: %v, want %v", err, want)
			}
		})
	}
}

func many(n int) string {
	members := []string{}
	for i := range n - 1 {
		members = append(members, fmt.Sprintf("port:%03d", i))
	}
	line, _ := json.Marshal(append(members, "task:demo"))
	return string(line)
}

func TestSignature(t *testing.T) {
	c := commit(t, sample(), 1)
	forged := sample()
	forged.Holder.Agent = "mallory"
	line, err := commitLine(t, forged)
	if err != nil {
		t.Fatal(err)
	}
	_, old, _, _ := open(c.Message)
	tests := map[string][]byte{
		"another line":   bytes.Replace(c.Message, old, []byte(line), 1),
		"another key":    seal("x", old, testKey(2)),
		"no signature":   c.Message[:bytes.Index(c.Message, []byte(signatureMark))],
		"half of it":     c.Message[:len(c.Message)-40],
		"an empty value": append(c.Message[:bytes.Index(c.Message, []byte(signatureMark)):bytes.Index(c.Message, []byte(signatureMark))], signatureMark+"\n"...),
	}
	for name, message := range tests {
		if err := CheckCommit(refstore.Commit{Message: message}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecordMembers(t *testing.T) {
	typ := reflect.TypeFor[Record]()
	var want []string
	for i := range typ.NumField() {
		if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name != "" {
			want = append(want, name)
		}
	}
	if got := recordMembers(); !slices.Equal(got, want) {
		t.Errorf("recordMembers is %v, the struct has %v", got, want)
	}
}

func TestMetaRecord(t *testing.T) {
	key := testKey(7)
	encode := func(m Meta) refstore.Commit {
		m.Key = public(key)
		line, err := marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return refstore.Commit{Message: seal("authority", line, key)}
	}
	good := Meta{V: 1, Kind: KindMeta, Authority: "a1", Format: 1, Floor: 7, CreatedAt: epoch}
	got, err := DecodeMeta(encode(good))
	if err != nil || got.Floor != 7 || CheckCommit(encode(good)) != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, edit := range map[string]func(*Meta){
		"kind":   func(m *Meta) { m.Kind = KindLease },
		"no ID":  func(m *Meta) { m.Authority = "" },
		"bad ID": func(m *Meta) { m.Authority = "../x" },
		"parent": func(m *Meta) { m.Prev = "12" },
		"floor":  func(m *Meta) { m.Floor = maxNumber + 1 },
	} {
		m := good
		edit(&m)
		if _, err := DecodeMeta(encode(m)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	later := good
	later.Format = 2
	if _, err := DecodeMeta(encode(later)); !errors.Is(err, ErrNewer) {
		t.Errorf("later format: %v", err)
	}
}

// TestCodecProperties: whatever a record says comes back, whatever unknown members it has.
func TestCodecProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := ed25519.NewKeyFromSeed(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))
		r := sample()
		r.Claim = claimID(public(key))
		r.Resource = genResource().Draw(t, "resource")
		r.Members = []Resource{r.Resource}
		r.Purpose = rapid.String().Draw(t, "purpose")
		r.Generation = Generation(rapid.Uint64Range(1, maxNumber).Draw(t, "generation"))
		r.Meta = rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "meta")
		message, err := r.encode(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckCommit(refstore.Commit{Message: message}); err != nil {
			t.Fatal(err)
		}
		extra := rapid.MapOf(rapid.StringMatching(`x_[a-z]{1,5}`), rapid.String()).Draw(t, "extra")
		got, err := DecodeRecord(refstore.Commit{Message: plant(t, message, extra, key)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Resource != r.Resource || got.Purpose != r.Purpose || len(r.Meta) > 0 && !reflect.DeepEqual(got.Meta, r.Meta) {
			t.Fatalf("%+v became %+v", r, got)
		}
		next, err := got.renewed("", 2, epoch.Add(time.Hour)).encode(key)
		if err != nil {
			t.Fatal(err)
		}
		_, line, _, _ := open(next)
		var all map[string]any
		if err := json.Unmarshal(line, &all); err != nil {
			t.Fatal(err)
		}
		for name, value := range extra {
			if all[name] != value {
				t.Fatalf("member %s: %v became %v", name, value, all[name])
			}
		}
	})
}

func plant(t *rapid.T, message []byte, extra map[string]string, key ed25519.PrivateKey) []byte {
	_, line, _, err := open(message)
	if err != nil {
		t.Fatal(err)
	}
	members, err := split(line)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range extra {
		v, _ := marshal(value)
		members = slices.Insert(members, len(members)/2, member{name, v})
	}
	out, err := join(members)
	if err != nil {
		t.Fatal(err)
	}
	return seal("x", out, key)
}

func genResource() *rapid.Generator[Resource] {
	return rapid.Custom(func(t *rapid.T) Resource {
		return Resource(rapid.StringN(1, 60, 240).Filter(func(s string) bool { return checkText(s, MaxResource) == nil }).Draw(t, "text"))
	})
}

func BenchmarkDecode(b *testing.B) {
	c := commit(b, sample(), 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeRecord(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	c := commit(b, sample(), 1)
	for b.Loop() {
		if err := CheckCommit(c); err != nil {
			b.Fatal(err)
		}
	}
}
