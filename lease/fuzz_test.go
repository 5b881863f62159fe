package lease

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/refstore"
)

// oneOf fails for an error that is none of those, and says whether there is none.
func oneOf(t *testing.T, err error, known ...error) bool {
	t.Helper()
	if err != nil && !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
		t.Fatalf("an error of another kind: %v", err)
	}
	return err == nil
}

// FuzzMessage: a message of any bytes is refused, or is a record within the limits.
func FuzzMessage(f *testing.F) {
	f.Add(commit(f, sample(), 1).Message)
	f.Add([]byte("x\n\n{\"v\":2}\n\n" + signatureMark + "AAAA\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, message []byte) {
		c := refstore.Commit{Message: message}
		signed := oneOf(t, CheckCommit(c), ErrCorrupt)
		_, err := DecodeMeta(c)
		oneOf(t, err, ErrCorrupt, ErrNewer)
		r, err := DecodeRecord(c)
		if !oneOf(t, err, ErrCorrupt, ErrNewer) {
			return
		}
		checkLimits(t, r)
		if _, line, _, _ := open(message); signed && !bytes.Contains(message, line) {
			t.Error("signed is another line than was read")
		}
	})
}

// FuzzRecord: a line of JSON that is signed as it should be is no record, or one within the limits that can be judged, shown, renewed, ended and taken
// over, with all that it says.
func FuzzRecord(f *testing.F) {
	line, err := commitLine(f, sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(line), "")
	f.Add([]byte(strings.Replace(line, `"v":1`, `"v":1,"later":[1,{"a":null}],"meta":{"x":"y"}`, 1)), "")
	f.Add([]byte(`{"v":2,"resource":{"a":1}}`), "1234")
	f.Add([]byte(strings.Replace(line, `"host":"box"`, `"host":"`+strings.Repeat("h", maxRecord-len(line))+`"`, 1)), "")
	f.Fuzz(func(t *testing.T, line []byte, parent string) {
		c := refstore.Commit{Parent: refstore.OID(parent), Message: seal("x", line, testKey(1))}
		checked := CheckCommit(c)
		oneOf(t, checked, ErrCorrupt)
		r, err := DecodeRecord(c)
		if !oneOf(t, err, ErrCorrupt, ErrNewer) {
			return
		}
		checkLimits(t, r)
		judge(r, Sighting{}, stance{moment: moment{wall: epoch}})
		entry(c, r.Resource)
		if r.Revision == maxNumber || !validID(r.Authority) {
			return // the last there can be, or not of any authority
		}
		by := Holder{Agent: "bob", Session: "main"}
		end := r.tombstone("", r.Revision+1, Release{Outcome: OutcomeDone, At: epoch, By: &by})
		end.Claim = claimID(public(testKey(2)))
		if _, err := end.encode(testKey(2)); err != nil {
			t.Errorf("can't be ended: %v", err)
		}
		next := sample()
		next.Predecessor = r.predecessor(string(Stale))
		if _, err := next.encode(testKey(1)); err != nil {
			t.Errorf("can't be taken over: %v", err)
		}
		if checked == nil {
			checkRenewal(t, r)
		}
	})
}

// checkLimits compares a record with the limits of the design.
func checkLimits(t *testing.T, r *Record) {
	t.Helper()
	text := func(s string, most int) bool {
		return s != "" && len(s) <= most && utf8.ValidString(s) && s == strings.TrimSpace(s) && !strings.ContainsFunc(s, unicode.IsControl)
	}
	size := 0
	for _, m := range r.Members {
		size += len(m)
		if !text(string(m), 1024) {
			t.Errorf("member %q", m)
		}
	}
	if !text(string(r.Resource), 1024) || !text(r.Holder.Agent, 128) || !text(r.Holder.Session, 128) || r.Place != "" && !text(r.Place, 128) {
		t.Errorf("resource %q, holder %q, place %q", r.Resource, r.Holder, r.Place)
	}
	if len(r.Members) > 32 || size > 16<<10 || !slices.IsSorted(r.Members) || len(slices.Compact(slices.Clone(r.Members))) != len(r.Members) ||
		!slices.Contains(r.Members, r.Resource) {
		t.Errorf("members %q of %q", r.Members, r.Resource)
	}
	if r.TTLSeconds < 10 || r.TTLSeconds > 86400 || r.GraceSeconds < 0 || r.GraceSeconds > 3600 || r.Generation < 1 || r.Revision < 1 {
		t.Errorf("ttl %d, grace %d, generation %d.%d", r.TTLSeconds, r.GraceSeconds, r.Generation, r.Revision)
	}
	if len(r.Checkpoint) > 8<<10 || r.V != 1 || r.Kind != KindLease || r.State == "" || r.Released() && r.Release == nil || r.Claim != claimID(r.Key) {
		t.Errorf("%+v", r)
	}
}

// checkRenewal: a renewal by the holder changes what it should, and keeps every other member, known or not.
func checkRenewal(t *testing.T, r *Record) {
	t.Helper()
	message, err := r.renewed("1234", r.Revision+1, epoch.Add(time.Hour)).encode(testKey(1))
	if err != nil {
		if len(r.raw) < maxRecord-512 {
			t.Errorf("can't be renewed: %v", err)
		}
		return
	}
	c := refstore.Commit{Parent: "1234", Message: message}
	if err := CheckCommit(c); err != nil {
		t.Fatalf("renewed: %v", err)
	}
	next, err := DecodeRecord(c)
	if err != nil {
		t.Fatalf("renewed: %v", err)
	}
	var before, after map[string]any
	if json.Unmarshal(r.raw, &before) != nil || json.Unmarshal(next.raw, &after) != nil {
		t.Fatalf("%s became %s", r.raw, next.raw)
	}
	for name, value := range before {
		if now := after[name]; !changed(name) && !reflect.DeepEqual(now, value) && (now != nil || !saysNothing(value)) {
			t.Errorf("member %q: %v became %v", name, value, now)
		}
	}
	if next.Revision != r.Revision+1 || next.Prev != "1234" || !next.RenewedAt.Equal(epoch.Add(time.Hour)) || next.Generation != r.Generation {
		t.Errorf("%+v became %+v", r, next)
	}
}

// changed are the members that a renewal writes, in any case, and those that it writes even where they were not there.
func changed(name string) bool {
	return slices.ContainsFunc(recordMembers(), func(known string) bool { return strings.EqualFold(name, known) && name != known }) ||
		slices.Contains([]string{"revision", "prev", "renewed_at", "key"}, name)
}

// saysNothing knows what may as well be left out.
func saysNothing(value any) bool {
	return value == nil || reflect.ValueOf(value).IsZero() || reflect.DeepEqual(value, map[string]any{})
}

// FuzzMeta: an authority's record is refused, or can be raised with all that it says.
func FuzzMeta(f *testing.F) {
	line, err := marshal(Meta{V: 1, Kind: KindMeta, Authority: "a1", Format: 1, Floor: 7, CreatedAt: epoch, Raises: []Raise{{Floor: 7, At: epoch}}, Key: public(testKey(1))})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add(bytes.Replace(line, []byte(`"v":1`), []byte(`"v":1,"later":{"x":[1.50]}`), 1))
	f.Add(bytes.Replace(line, []byte(`"v":1`), []byte(`"v":1,"later":"`+strings.Repeat("x", maxRecord-len(line)-20)+`"`), 1))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := DecodeMeta(refstore.Commit{Message: seal("x", line, testKey(1))})
		if !oneOf(t, err, ErrCorrupt, ErrNewer) {
			return
		}
		if !validID(m.Authority) || m.Floor > maxNumber || m.proven(epoch, true) > m.Floor {
			t.Errorf("%+v", m)
		}
		m.waiting(epoch, false)
		next := m.raised(Raise{Floor: 9, At: epoch}, "1234")
		raised, err := next.line()
		if err != nil {
			t.Fatal(err)
		}
		if len(raised) > maxRecord {
			return
		}
		back, err := DecodeMeta(refstore.Commit{Parent: "1234", Message: seal("x", raised, testKey(1))})
		if err != nil || back.Floor != max(m.Floor, 9) || back.Authority != m.Authority || len(back.Raises) > keptRaises {
			t.Errorf("%s became %s: %v", line, raised, err)
		}
	})
}

func FuzzDecodeName(f *testing.F) {
	f.Add("task%3ademo")
	f.Add("%61ux")
	f.Fuzz(func(t *testing.T, name string) {
		if key, ok := DecodeName(name); ok && EncodeName(key) != name {
			t.Errorf("%q decodes to %q", name, key)
		}
		encoded := EncodeName(name)
		if back, ok := DecodeName(encoded); ok && back != name || !ok && name != "" && !strings.Contains(encoded, "+") {
			t.Errorf("%q is named %q, and comes back as %q, %t", name, encoded, back, ok)
		}
		if name != "" && (encoded != strings.ToLower(encoded) || len(encoded) > maxEncoded || !refstore.ValidRef(DefaultPrefix+"claims/"+encoded)) {
			t.Errorf("%q is named %q", name, encoded)
		}
	})
}

// FuzzParseResource: what a person types is refused, or is a resource that stays as it is.
func FuzzParseResource(f *testing.F) {
	for _, key := range []string{"task:demo", "path:./a//b/**", "pool:gpu#2", "pool:gpu#02", "github:acme/app#42", "https://x", "path:\\x", "a"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		r, err := ParseResource(key)
		if !oneOf(t, err, ErrBadResource, ErrBadPath, ErrScheme) {
			return
		}
		if again, err := ParseResource(string(r)); err != nil || again != r {
			t.Errorf("%q became %q, and that %q, %v", key, r, again, err)
		}
		if checkText(string(r), MaxResource) != nil || r.Scheme() == "" || !r.IsPath() && string(r) != key {
			t.Errorf("%q became %q", key, r)
		}
		names := refs{DefaultPrefix}
		if name := names.claim(r); !refstore.ValidRef(name) {
			t.Errorf("%q is at %q", r, name)
		} else if back := names.resource(refstore.Ref{Name: name}); back != r && back != "" {
			t.Errorf("%q is at %q, which is %q", r, name, back)
		}
		if pool, k, ok := r.slot(); ok && (k < 0 || k > MaxSlots || r.IsPool() == r.in(pool)) {
			t.Errorf("%q is slot %d of %q", r, k, pool)
		}
	})
}

// FuzzPath: every spelling of a path is one resource, which covers what is below it, and two paths overlap whichever is named first.
func FuzzPath(f *testing.F) {
	f.Add("src/./a\\b", "src/*/x")
	f.Add("e\u0301t\u00e9", "\u00c9T\u00c9")
	f.Add("../x", "a*b")
	f.Fuzz(func(t *testing.T, a, b string) {
		r, err := PathResource(a)
		o, otherErr := PathResource(b)
		oneOf(t, otherErr, ErrBadResource, ErrBadPath)
		if Overlap(Resource(a), Resource(b)) != Overlap(Resource(b), Resource(a)) {
			t.Errorf("%q and %q overlap in one order alone", a, b)
		}
		raw, rawOther := Resource("path:"+a), Resource("path:"+b)
		if Overlap(raw, rawOther) != Overlap(rawOther, raw) || !Overlap(raw, raw) {
			t.Errorf("%q and %q overlap in one order alone", raw, rawOther)
		}
		if !oneOf(t, err, ErrBadResource, ErrBadPath) {
			return
		}
		if otherErr == nil && Overlap(r, o) != Overlap(raw, rawOther) {
			t.Errorf("%q and %q overlap by their spelling", r, o)
		}
		path, _ := r.pathOf()
		for _, spelled := range []string{path, "./" + path, path + "/", path + "/**", strings.ReplaceAll(path, "/", `\`), strings.ReplaceAll(path, "/", "//")} {
			if same, err := PathResource(spelled); err == nil && same != r || err != nil && len(spelled) <= MaxResource-len("path:") {
				t.Errorf("%q of %q is %q, %v", spelled, r, same, err)
			}
		}
		for _, other := range []Resource{r, "path:.", r + "/below", Resource(otherCase(string(r)))} {
			if !Overlap(r, other) || !Overlap(other, r) {
				t.Errorf("%q does not overlap with %q", r, other)
			}
		}
	})
}

// otherCase swaps the case of letters.
func otherCase(s string) string {
	scheme, path, _ := strings.Cut(s, ":")
	return scheme + ":" + strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.SimpleFold(r)
		}
		return r
	}, path)
}

// FuzzCheckpoint: data is refused, or is small, means the same, and comes back from a record to the byte.
func FuzzCheckpoint(f *testing.F) {
	for _, data := range []string{`{"phase": "tests"}`, " null ", `[1.50, "\u2028"]`, "\"\xff\"", strings.Repeat("[", 9000), `"` + strings.Repeat("x", MaxCheckpoint) + `"`} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		req := CheckpointRequest{Data: data}
		compact, err := req.compact()
		if !oneOf(t, err, ErrBadRequest) {
			return
		}
		if compact == nil {
			if s := strings.TrimSpace(string(data)); s != "" && s != "null" {
				t.Errorf("%q became nothing", data)
			}
			return
		}
		var was, is any
		if json.Unmarshal(data, &was) != nil || json.Unmarshal(compact, &is) != nil || !reflect.DeepEqual(was, is) || len(compact) > MaxCheckpoint {
			t.Fatalf("%q became %q", data, compact)
		}
		r := sample()
		r.Checkpoint = compact
		back, err := DecodeRecord(commit(t, r, 1))
		if err != nil || !bytes.Equal(back.Checkpoint, compact) {
			t.Errorf("%q came back as %q, %v", compact, back.Checkpoint, err)
		}
	})
}

// FuzzHold: a claim that was brought from elsewhere is refused, or is one that can be moved, and its records written.
func FuzzHold(f *testing.F) {
	h := Hold{
		Authority: "a1", Claim: claimID(public(testKey(1))), Key: testKey(1), Holder: Holder{Agent: "alice", Session: "main"}, Revision: 1, ClaimedAt: epoch, RenewedAt: epoch,
		TTL: time.Hour, Grace: time.Minute, Members: []Member{{Resource: "task:a", Generation: 1, Tip: "12"}, {Resource: "task:b", Generation: 7}},
	}
	data, err := json.Marshal(h)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(bytes.Replace(data, []byte(`"task:b"`), []byte(`"task:a"`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		var h Hold
		if json.Unmarshal(data, &h) != nil || !oneOf(t, h.Check(), ErrBadHold) {
			return
		}
		moved := h.MoveTo("place", Holder{Agent: "bob", Session: "other"})
		if err := moved.Check(); err != nil {
			t.Errorf("moved: %v", err)
		}
		h.Left(epoch, Instant{})
		for _, m := range h.Members {
			r := sample()
			r.Authority, r.Claim, r.Resource, r.Members, r.Holder = h.Authority, h.Claim, m.Resource, h.resources(), moved.Holder
			r.Generation, r.Revision, r.TTLSeconds, r.GraceSeconds = m.Generation, h.Revision, int64(h.TTL/time.Second), int64(h.Grace/time.Second)
			if _, err := r.encode(h.Key); err != nil {
				t.Errorf("%s: %v", m.Resource, err)
			}
		}
	})
}
