package lease

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// put makes a ref hold a record of any sort, on top of what is there.
func (w *world) put(ref string, message []byte) {
	w.t.Helper()
	content := refstore.EncodeCommit(refstore.SHA1, w.repo.Refs()[ref], w.time(), message)
	w.repo.Set(ref, w.repo.Add(content))
}

// TestStrangeRecords: what can't be judged is shown as such, is never free, and is never written over.
func TestStrangeRecords(t *testing.T) {
	names := refs{DefaultPrefix}
	ref := names.claim(demo)
	edit := func(r *Record, f func(*Record)) []byte {
		f(r)
		message, err := r.encode(testKey(9))
		if err != nil {
			t.Fatal(err)
		}
		return message
	}
	tests := []struct {
		name  string
		make  func(authority string, prev refstore.OID) []byte
		state Standing
		want  error
	}{
		{"garbage", func(string, refstore.OID) []byte { return []byte("hello\n") }, StandingCorrupt, ErrCorrupt},
		{"newer", func(string, refstore.OID) []byte { return seal("x", []byte(`{"v":2}`), testKey(1)) }, StandingNewer, ErrNewer},
		{"another authority", func(_ string, prev refstore.OID) []byte {
			return edit(foreignRecord("bb", prev), func(*Record) {})
		}, StandingForeign, ErrWrongAuthority},
		{"another ref's", func(authority string, prev refstore.OID) []byte {
			return edit(foreignRecord(authority, prev), func(r *Record) { r.Resource, r.Members = "task:x", []Resource{"task:x"} })
		}, StandingCorrupt, ErrCorrupt},
		{"another parent", func(authority string, _ refstore.OID) []byte {
			return edit(foreignRecord(authority, ""), func(*Record) {})
		}, StandingCorrupt, ErrCorrupt},
		{"wrongly signed", func(authority string, prev refstore.OID) []byte {
			message := edit(foreignRecord(authority, prev), func(*Record) {})
			_, line, _, _ := open(message)
			return seal("x", line, testKey(8))
		}, StandingCorrupt, ErrCorrupt},
		{"going back", func(authority string, prev refstore.OID) []byte {
			return edit(foreignRecord(authority, prev), func(r *Record) { r.Generation = 1 })
		}, StandingRolledBack, ErrRolledBack},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			alice, bob := w.actor("alice"), w.actor("bob")
			bob.mustClaim(demo)
			bob.mustRelease(demo)
			authority := alice.mustClaim(demo).Hold.Authority
			bob.mustStatus(demo)
			w.put(ref, tt.make(authority, w.repo.Refs()[ref]))
			before := w.repo.Refs()[ref]
			w.advance(1000 * time.Hour)
			v := bob.mustStatus(demo)[0]
			if v.State != tt.state || v.Takeable || !errors.Is(v.Problem, tt.want) {
				t.Errorf("%s, takeable %t, %v", v.State, v.Takeable, v.Problem)
			}
			_, err := bob.Claim(t.Context(), req(demo))
			want(t, err, tt.want)
			_, err = alice.Renew(t.Context(), RenewRequest{})
			want(t, err, tt.want)
			views, err := alice.List(t.Context())
			if err != nil || len(views) != 1 || views[0].State != tt.state && tt.state != StandingRolledBack || views[0].Ref != ref {
				t.Errorf("%+v, %v", views, err)
			}
			if w.repo.Refs()[ref] != before {
				t.Error("it was written over")
			}
		})
	}
}

func foreignRecord(authority string, prev refstore.OID) *Record {
	r := sample()
	r.Authority, r.Resource, r.Members, r.Prev = authority, demo, []Resource{demo}, prev
	r.Claim, r.Generation = claimID(public(testKey(9))), 9
	return r
}

// TestFullRecords: a claim whose record has no room left can be ended by others, and taken over, like any other.
func TestFullRecords(t *testing.T) {
	start := func(t *testing.T, r Resource) (*world, *actor) {
		w := newWorld(t)
		alice := w.actor("alice")
		rec := foreignRecord(alice.mustClaim("task:other").Hold.Authority, "")
		rec.Resource, rec.Members, rec.RenewedAt = r, []Resource{r}, w.time()
		rec.Holder.Host, rec.Expiry = "h", "sundial"
		line, err := rec.line()
		if err != nil {
			t.Fatal(err)
		}
		rec.Holder.Host = strings.Repeat("h", maxRecord-len(line)-60) // the key is not in line yet
		message, err := rec.encode(testKey(9))
		if err != nil {
			t.Fatal(err)
		}
		w.put(refs{DefaultPrefix}.claim(r), message)
		return w, alice
	}
	t.Run("by force", func(t *testing.T) {
		_, alice := start(t, demo)
		if _, err := alice.Force(t.Context(), ForceRequest{Resources: []Resource{demo}, Reason: "full"}); err != nil {
			t.Fatal(err)
		}
		alice.mustClaim(demo)
	})
	t.Run("taken over", func(t *testing.T) {
		w, alice := start(t, demo)
		alice.mustStatus(demo)
		w.advance(1000 * time.Hour)
		if pre := alice.mustClaim(demo).Records[0].Predecessor; pre == nil || pre.Holder.Agent != "alice" {
			t.Errorf("predecessor %+v", pre)
		}
	})
	t.Run("overlapped", func(t *testing.T) {
		w, alice := start(t, "path:src")
		alice.mustStatus("path:src")
		w.advance(1000 * time.Hour)
		alice.mustClaim("path:src/a")
		if tip := w.tip("path:src"); !tip.Released() || tip.Release.Reason != reasonOverlapped {
			t.Errorf("%+v", tip)
		}
	})
}
