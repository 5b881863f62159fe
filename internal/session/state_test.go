package session_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

const authority = "6f1c0a2b"

// clone is a folder that stands for a clone.
func clone(t testing.TB) string {
	t.Helper()
	owner := filepath.Join(t.TempDir(), ".git")
	if err := os.Mkdir(owner, 0o700); err != nil {
		t.Fatal(err)
	}
	return owner
}

func options(owner, name string) session.Options {
	return session.Options{
		Place:   session.Place{Root: filepath.Join(owner, "worklease"), Owner: owner},
		Session: name, HostName: "box",
	}
}

func openState(t testing.TB, owner, name string) *session.State {
	t.Helper()
	s, err := session.Open(options(owner, name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// hold makes a claim of a session, whose key follows from its resources.
func hold(name string, resources ...lease.Resource) lease.Hold {
	seed := sha256.Sum256([]byte(fmt.Sprint(name, resources)))
	h := lease.Hold{
		Authority: authority, Claim: lease.ClaimID(digest(fmt.Sprint(name, resources))), Key: ed25519.NewKeyFromSeed(seed[:]),
		Holder: lease.Holder{Agent: "alice", Session: name, Host: "box"}, Revision: 1,
		ClaimedAt: time.Unix(1_700_000_000, 0).UTC(), RenewedAt: time.Unix(1_700_000_000, 0).UTC(), TTL: time.Hour, Grace: time.Minute,
		Deadline: lease.Instant{Boot: "b", Since: time.Hour},
	}
	for _, r := range resources {
		h.Members = append(h.Members, lease.Member{Resource: r, Generation: 3, Tip: "t"})
	}
	return h
}

func intent(name string, resources ...lease.Resource) *lease.Intent {
	h := hold(name, resources...)
	return &lease.Intent{
		ID: digest(fmt.Sprint("intent", name, resources)), Verb: lease.VerbClaim, Session: name, Resources: resources,
		Tx: &refstore.Tx{Format: refstore.SHA1, Updates: []refstore.Update{{
			Change: refstore.Change{Ref: "refs/worklease/claims/x", Message: []byte("m\n"), When: h.ClaimedAt}, New: "n",
		}}},
		Hold: h, Expires: h.ClaimedAt.Add(time.Hour),
	}
}

func TestNothingIsMadeByReading(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "a")
	holds, err := s.Holds()
	if err != nil || len(holds) != 0 {
		t.Errorf("holds: %v, %v", holds, err)
	}
	left, busy, err := s.Pending()
	if err != nil || len(left) != 0 || len(busy) != 0 {
		t.Errorf("pending: %v, %d, %v", left, len(busy), err)
	}
	seen, err := s.Seen("task:x")
	if err != nil || len(seen) != 0 {
		t.Errorf("seen: %v, %v", seen, err)
	}
	meta, err := s.Meta()
	if err != nil || meta != (lease.MetaSighting{}) {
		t.Errorf("meta: %v, %v", meta, err)
	}
	server, err := s.Server("https://h/r")
	if err != nil || server != (refstore.Server{}) {
		t.Errorf("server: %v, %v", server, err)
	}
	if entries, _ := os.ReadDir(owner); len(entries) != 0 {
		t.Errorf("made %v", entries)
	}
}

func TestHolds(t *testing.T) {
	owner := clone(t)
	a, b := openState(t, owner, "a"), openState(t, owner, "orch/7")
	first, second, theirs := hold("a", "task:1"), hold("a", "task:2", "task:3"), hold("orch/7", "task:4")
	for _, h := range []lease.Hold{first, second, theirs} {
		must(t, a.SaveHold(h)) // also into another session's file
	}
	first.Revision, first.RenewedAt = 2, first.RenewedAt.Add(time.Minute)
	must(t, a.SaveHold(first))
	check := func(s *session.State, want ...lease.Hold) {
		t.Helper()
		got, err := s.Holds()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
	check(a, first, second)
	check(b, theirs)

	ended := first
	ended.End = &lease.End{How: lease.EndReleased, At: first.RenewedAt, Reason: "done"}
	must(t, a.SaveHold(ended))
	must(t, a.SaveHold(first)) // a renewal that comes late must not revive it
	check(a, ended, second)
}

func TestEndedHoldsAreTrimmed(t *testing.T) {
	s := openState(t, clone(t), "a")
	active := hold("a", "task:active")
	must(t, s.SaveHold(active))
	for i := range 103 {
		h := hold("a", lease.Resource(fmt.Sprintf("task:%d", i)))
		h.End = &lease.End{How: lease.EndReleased, At: h.ClaimedAt.Add(time.Duration(-i) * time.Second)}
		must(t, s.SaveHold(h))
	}
	got, err := s.Holds()
	if err != nil || len(got) != 101 || got[0].Claim != active.Claim {
		t.Fatalf("%d holds, %v", len(got), err)
	}
	gone := func(i int) bool {
		want := hold("a", lease.Resource(fmt.Sprintf("task:%d", i))).Claim
		return !slices.ContainsFunc(got, func(h lease.Hold) bool { return h.Claim == want })
	}
	if gone(0) || gone(99) || !gone(100) || !gone(102) {
		t.Error("not the oldest were forgotten")
	}
}

// living are the processes that live, with their start.
type living map[int]string

func (l living) Lookup(pid int) (session.Process, bool) {
	start, ok := l[pid]
	return session.Process{PID: pid, Start: start}, ok
}

// TestCheckClaimant: a claim is known to be another worker's, also where that worker died before it could save it and another finished
// that, for as long as the process lives on whose behalf it was made.
func TestCheckClaimant(t *testing.T) {
	owner := clone(t)
	maker := session.Claimant{PID: 7, Start: "s", Name: "node"}
	as := func(process session.Claimant, worktree string) *session.State {
		o := options(owner, "@main")
		o.Process, o.Place.Worktree = process, worktree
		s, err := session.Open(o)
		must(t, err)
		return s
	}
	writer, heir := as(maker, "w"), as(session.Claimant{PID: 9, Start: "s"}, "w")
	one, two := hold("@main", "task:1"), intent("@main", "task:2")
	must(t, writer.SaveHold(one))
	must(t, writer.Begin(two))
	must(t, writer.Leave(two))
	left, _, err := heir.Pending()
	if err != nil || len(left) != 1 {
		t.Fatalf("%v, %v", left, err)
	}
	must(t, heir.SaveHold(left[0].Hold))
	must(t, heir.SaveHold(one))
	must(t, heir.End(left[0]))

	alive := living{7: "s", 9: "s"}
	for _, r := range []lease.Resource{"task:1", "task:2"} {
		var ambiguous *session.AmbiguousError
		if err := heir.CheckClaimant(alive, []lease.Resource{"task:0", r}); !errors.As(err, &ambiguous) || ambiguous.By != maker || ambiguous.Resource != r {
			t.Errorf("%s: %v", r, err)
		}
		for name, err := range map[string]error{
			"the maker itself": writer.CheckClaimant(alive, []lease.Resource{r}),
			"a dead maker":     heir.CheckClaimant(living{7: "another's", 9: "s"}, []lease.Resource{r}),
			"another worktree": as(session.Claimant{PID: 9, Start: "s"}, "v").CheckClaimant(alive, []lease.Resource{r}),
			"another resource": heir.CheckClaimant(alive, []lease.Resource{"task:3"}),
			"nobody known":     as(session.Claimant{}, "w").CheckClaimant(alive, []lease.Resource{r}),
		} {
			if err != nil {
				t.Errorf("%s, %s: %v", r, name, err)
			}
		}
	}
}

func TestAuthorityIsBound(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "a")
	must(t, s.SaveHold(hold("a", "task:1")))
	meta := lease.MetaSighting{Authority: authority, Tip: "t", Floor: 7, At: time.Unix(1_700_000_000, 0).UTC()}
	must(t, s.SeeMeta(meta))
	if got, err := s.Meta(); err != nil || got != meta {
		t.Errorf("got %+v, %v", got, err)
	}
	foreign := meta
	foreign.Authority = "ffff"
	other := hold("a", "task:2")
	other.Authority = "ffff"
	i := intent("a", "task:2")
	i.Hold.Authority = "ffff"
	for name, err := range map[string]error{"SeeMeta": s.SeeMeta(foreign), "SaveHold": s.SaveHold(other), "Begin": s.Begin(i)} {
		var otherErr *session.OtherAuthorityError
		if !errors.As(err, &otherErr) || !errors.Is(err, session.ErrOtherAuthority) || otherErr.Bound != authority || otherErr.Got != "ffff" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The clone's own authority is another matter.
	o := options(owner, "a")
	o.Kind = session.Local
	local, err := session.Open(o)
	must(t, err)
	must(t, local.SeeMeta(foreign))
	if holds, err := local.Holds(); err != nil || len(holds) != 0 {
		t.Errorf("local: %v, %v", holds, err)
	}
}

// TestMetaOfAnotherURL: what was read at one URL is not taken for read at another, while the clone stays bound to it.
func TestMetaOfAnotherURL(t *testing.T) {
	owner := clone(t)
	at := func(url string) *session.State {
		o := options(owner, "a")
		o.Where = url
		s, err := session.Open(o)
		must(t, err)
		return s
	}
	meta := lease.MetaSighting{Authority: authority, Tip: "t", Floor: 7, At: time.Unix(1_700_000_000, 0).UTC()}
	must(t, at("https://h/one").SeeMeta(meta))
	if got, err := at("https://h/one").Meta(); err != nil || got != meta {
		t.Errorf("at the same URL: %+v, %v", got, err)
	}
	old := meta
	old.At = time.Time{}
	if got, err := at("https://h/two").Meta(); err != nil || got != old {
		t.Errorf("at another URL: %+v, %v", got, err)
	}
	must(t, at("https://h/two").SeeMeta(meta))
	if got, err := at("https://h/two").Meta(); err != nil || got != meta {
		t.Errorf("once it was read there: %+v, %v", got, err)
	}
}

// TestHoldsOfAnotherAuthority: claims that were made before the state was bound elsewhere.
func TestHoldsOfAnotherAuthority(t *testing.T) {
	s := openState(t, clone(t), "a")
	must(t, s.SaveHold(hold("a", "task:1")))
	must(t, s.SeeMeta(lease.MetaSighting{Authority: "ffff"}))
	if _, err := s.Holds(); !errors.Is(err, session.ErrOtherAuthority) {
		t.Errorf("got %v", err)
	}
}

func TestServers(t *testing.T) {
	s := openState(t, clone(t), "a")
	want := refstore.Server{Known: time.Unix(1_700_000_000, 0).UTC(), Atomic: true, Format: refstore.SHA1, ReadV2: true, Agent: "git/2"}
	must(t, s.SaveServer("https://u:secret@h/r", want))
	if got, err := s.Server("https://u:secret@h/r"); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.Server("https://h/other"); err != nil || got != (refstore.Server{}) {
		t.Errorf("another URL: %+v, %v", got, err)
	}
}

// TestServersGrowOld: what is known of a server is used for a day, and not written anew each time that it is the same.
func TestServersGrowOld(t *testing.T) {
	s := openState(t, clone(t), "a")
	now := time.Unix(1_700_000_000, 0).UTC()
	known := refstore.Server{Known: now, Atomic: true, Format: refstore.SHA1}
	learn := func(after time.Duration, atomic bool) time.Time {
		t.Helper()
		learned := known
		learned.Known, learned.Atomic = now.Add(after), atomic
		must(t, s.LearnServer("u", known, learned))
		got, err := s.Server("u")
		must(t, err)
		return got.Known
	}
	must(t, s.LearnServer("u", refstore.Server{}, refstore.Server{}))
	if got, err := s.Server("u"); err != nil || got != (refstore.Server{}) {
		t.Errorf("what nobody learned: %+v, %v", got, err)
	}
	must(t, s.LearnServer("u", refstore.Server{}, known))
	for _, c := range []struct {
		after time.Duration
		same  bool
		want  time.Duration
	}{{time.Minute, true, 0}, {2 * time.Minute, false, 2 * time.Minute}, {2 * time.Hour, true, 2 * time.Hour}} {
		if at := learn(c.after, c.same); !at.Equal(now.Add(c.want)) {
			t.Errorf("after %s: known at %s", c.after, at.Sub(now))
		}
	}
	must(t, s.SaveServer("u", known))
	for after, want := range map[time.Duration]refstore.Server{
		refstore.ServerLife - time.Second: known, refstore.ServerLife: {Format: refstore.SHA1}, -refstore.ServerLife: {Format: refstore.SHA1},
	} {
		if got, err := s.FreshServer("u", now.Add(after)); err != nil || got != want {
			t.Errorf("after %s: %+v, %v", after, got, err)
		}
	}
}

func TestOpenRefusesBadNames(t *testing.T) {
	for _, name := range []string{"", "a\x00", string(make([]byte, 129))} {
		if _, err := session.Open(options(clone(t), name)); !errors.Is(err, session.ErrSessionName) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// known is a server that is known.
var known = refstore.Server{Known: time.Unix(1_700_000_000, 0).UTC(), Atomic: true}
