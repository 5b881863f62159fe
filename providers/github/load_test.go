package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// thousand is a repository with 1,000 open issues, of which 20 have dependencies or sub-issues, and 30 pull requests among them.
func thousand() []thing {
	var things []thing
	for n := 1; n <= 1000; n++ {
		th := thing{number: n, title: fmt.Sprintf("Issue %d", n), body: "Some text.", pull: n%33 == 0}
		switch n % 100 {
		case 50:
			th.blocked = []string{"acme/app#1"}
		case 51:
			th.subs = []string{"acme/app#2", "acme/app#3"}
		}
		things = append(things, th)
	}
	return things
}

// TestCase39RequestsOfALargeRepository is CASES row 39. A first listing costs a request for 100 items and one for each with dependencies; a second asks only whether
// anything has changed, also from another process.
func TestCase39RequestsOfALargeRepository(t *testing.T) {
	for name, cursors := range map[string]bool{"numbered pages": false, "cursors": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, thousand()...)
			s.cursors = cursors
			cache := t.TempDir()
			last := 0
			l, err := s.open(s.options(cache)).List(t.Context(), func(read, _ int) { last = read })
			if err != nil || len(l.Items) != 1000 || !l.Complete() || last != 1000 {
				t.Fatalf("%d items, %v, %d reported, %v", len(l.Items), l.Troubles, last, err)
			}
			requests, fresh := s.asked()
			if len(requests) > 12+20 || fresh != len(requests) {
				t.Errorf("%d requests, %d of them answered in full: %q", len(requests), fresh, requests)
			}
			s.pass(30 * time.Second)
			again, err := s.open(s.options(cache)).List(t.Context(), nil)
			if err != nil || len(again.Items) != 1000 || !again.Complete() || again.Items[7].Version != l.Items[7].Version {
				t.Fatalf("%d items, %v, %v", len(again.Items), again.Troubles, err)
			}
			if requests, fresh := s.asked(); len(requests) > 12+20 || fresh != 0 {
				t.Errorf("%d requests, %d of them answered in full: %q", len(requests), fresh, requests)
			}
		})
	}
}

// TestCacheIsPrivate: no token is in the folder, nobody else may look into it, and another user is told nothing from it.
func TestCacheIsPrivate(t *testing.T) {
	s := newSite(t, project()...)
	cache := filepath.Join(t.TempDir(), "a", "b")
	if _, err := s.open(s.options(cache)).List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(cache)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(cache, e.Name()))
		info, statErr := e.Info()
		if err != nil || statErr != nil || strings.Contains(string(data)+e.Name(), "secret") || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v, %v", e.Name(), info.Mode(), err, statErr)
		}
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	s.asked()
	o := s.options(cache)
	o.Token = token("another")
	if _, err := s.open(o).List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if requests, _ := s.asked(); len(requests) == 0 || s.conditional != 0 {
		t.Errorf("for another user, %d of %d requests named what was kept", s.conditional, len(requests))
	}
}

// TestCacheIsDamaged: what is no whole answer is asked for anew, and a folder that can't be written costs nothing but requests.
func TestCacheIsDamaged(t *testing.T) {
	s := newSite(t, project()...)
	cache := t.TempDir()
	p := s.open(s.options(cache))
	whole, err := p.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(path string, data []byte) error{
		"cut":     func(path string, data []byte) error { return os.WriteFile(path, data[:len(data)/2], 0o600) },
		"empty":   func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) },
		"flipped": func(path string, data []byte) error { data[len(data)-9] ^= 1; return os.WriteFile(path, data, 0o600) },
		"folder":  func(path string, _ []byte) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"symlink": func(path string, data []byte) error {
			other := filepath.Join(t.TempDir(), "x")
			return errors.Join(os.WriteFile(other, data, 0o600), os.Remove(path), os.Symlink(other, path))
		},
	} {
		entries, _ := os.ReadDir(cache)
		for _, e := range entries {
			path := filepath.Join(cache, e.Name())
			if data, err := os.ReadFile(path); err == nil {
				if err := damage(path, data); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.asked()
		l, err := p.List(t.Context(), nil)
		if err != nil || len(l.Items) != len(whole.Items) || !l.Complete() {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		if _, fresh := s.asked(); fresh == 0 {
			t.Errorf("%s: nothing was read anew", name)
		}
		for _, e := range entries {
			_ = os.RemoveAll(filepath.Join(cache, e.Name()))
		}
		if _, err := p.List(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := s.open(s.options(filepath.Join(file, "cache"))).List(t.Context(), nil); err != nil || !l.Complete() {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestCacheIsBounded: a folder that has grown loses its oldest files.
func TestCacheIsBounded(t *testing.T) {
	s := newSite(t, thing{number: 1})
	cache := t.TempDir()
	old := s.now.Add(-time.Hour)
	for n := range 2100 {
		path := filepath.Join(cache, strconv.Itoa(n))
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, old, old.Add(time.Duration(n)*time.Second))); err != nil {
			t.Fatal(err)
		}
	}
	p := s.open(s.options(cache))
	if _, err := p.List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(cache)
	if err != nil || len(entries) != 2048*3/4 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	s.asked()
	if _, err := p.List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if requests, fresh := s.asked(); len(requests) != 1 || fresh != 0 {
		t.Errorf("the newest was removed: %q, %d", requests, fresh)
	}
}

// TestCase39Limits is CASES row 39. A limit is kept to until it ends, by this process and by others; a listing is repeated meanwhile and says so, and a single item is not.
func TestCase39Limits(t *testing.T) {
	const soon = 90 * time.Second
	for name, refuse := range map[string]func(s *site) func(http.ResponseWriter, *http.Request) bool{
		"primary": func(s *site) func(http.ResponseWriter, *http.Request) bool {
			return answered(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(s.now.Add(soon).Unix(), 10))
		},
		"secondary": func(*site) func(http.ResponseWriter, *http.Request) bool {
			return answered(403, `{"message":"You have exceeded a secondary rate limit"}`, "Retry-After", "90")
		},
		"429": func(s *site) func(http.ResponseWriter, *http.Request) bool {
			return answered(429, ``, "Retry-After", s.now.Add(soon).UTC().Format(http.TimeFormat))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, project()...)
			cache := t.TempDir()
			before, err := s.open(s.options(cache)).List(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			read, until := s.now, s.now.Add(time.Minute+soon)
			s.pass(time.Minute)
			s.fail(refuse(s))
			s.asked()
			for n, o := range []string{cache, cache, t.TempDir()} {
				p := s.open(s.options(o))
				l, err := p.List(t.Context(), nil)
				requests, _ := s.asked()
				if o != cache {
					checkLimited(t, err, until)
					continue
				}
				if err != nil || len(l.Items) != len(before.Items) || len(l.Troubles) != 1 || !l.Read.Equal(read) {
					t.Fatalf("%+v, %v", l, err)
				}
				checkLimited(t, l.Troubles[0], until)
				if n > 0 && len(requests) != 0 {
					t.Errorf("while the limit held it was asked for %q", requests)
				}
				_, err = p.Read(t.Context(), "github:acme/app#1")
				checkLimited(t, err, until)
				mark, err := p.Start(t.Context(), "github:acme/app#1", providers.Worker{})
				checkLimited(t, err, until)
				if requests, _ := s.asked(); len(requests) != 0 || !mark.IsZero() {
					t.Errorf("%q, %+v", requests, mark)
				}
			}
			s.fail(nil)
			s.pass(soon + time.Second)
			if l, err := s.open(s.options(cache)).List(t.Context(), nil); err != nil || !l.Complete() || !l.Read.Equal(s.now) {
				t.Errorf("afterwards: %+v, %v", l, err)
			}
		})
	}
}

func checkLimited(t *testing.T, err error, until time.Time) {
	t.Helper()
	var limited *providers.RateLimitedError
	if !errors.As(err, &limited) || !limited.Until.Equal(until) || !strings.HasPrefix(limited.Request, "GET http://127.0.0.1:") {
		t.Errorf("%v; it ends at %v", err, until)
	}
}

// TestLastRequest: the answer that says that no more are left is good; what follows is not sent.
func TestLastRequest(t *testing.T) {
	s := newSite(t, thing{number: 1})
	s.fail(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(s.clock().Add(time.Minute).Unix(), 10))
		fmt.Fprint(w, `[{"number":1,"state":"open","issue_dependencies_summary":{"blocked_by":1,"total_blocked_by":1}}]`)
		return true
	})
	l, err := s.open(s.options("")).List(t.Context(), nil)
	if err != nil || len(l.Items) != 1 || len(l.Troubles) != 1 || !errors.Is(l.Troubles[0], providers.ErrRateLimited) || len(l.Items[0].Needs) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	if requests, _ := s.asked(); len(requests) != 1 {
		t.Errorf("%q", requests)
	}
}
