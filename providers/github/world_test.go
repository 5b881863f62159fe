package github_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers/github"
)

// thing is an issue or a pull request of the site.
type thing struct {
	repo        string
	number      int
	title, body string
	closed      bool
	// reason is that of the state; none: null. older leaves it out.
	reason           string
	older            bool
	labels, assigned []string
	milestone        string
	pull             bool
	draft, merged    bool
	// blocked and subs are other things: "acme/app#3"; hidden of the first can't be seen by the token.
	blocked, subs []string
	hidden        int
	parent        string
	comments      []string
	updated       int64
}

// site is GitHub as far as the tests need it.
type site struct {
	t      testing.TB
	d      *description
	server *httptest.Server
	now    time.Time

	mu     sync.Mutex
	things map[string]*thing
	login  string
	// known are the repository's labels, as it spells them.
	known    []string
	requests []string
	// fresh are those of them that were answered in full.
	fresh int
	// conditional are the requests that named an answer that was kept.
	conditional int
	// tokens are those that came with requests.
	tokens map[string]int
	// cursors lets the listing of issues give cursors in place of numbers.
	cursors bool
	// silent ignores assignees, as for a token that may not write.
	silent bool
	// fault answers in place of the site where it returns true.
	fault func(w http.ResponseWriter, req *http.Request) bool
}

func newSite(t testing.TB, things ...thing) *site {
	t.Helper()
	s := &site{t: t, d: describe(t), things: map[string]*thing{}, login: "robot", tokens: map[string]int{}, now: time.Now().Truncate(time.Second)}
	for _, th := range things {
		s.add(th)
	}
	checked := s.d.check(t, s.routes())
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, req.Method+" "+req.URL.RequestURI())
		s.tokens[req.Header.Get("Authorization")]++
		fault := s.fault
		if req.Header.Get("If-None-Match") != "" {
			s.conditional++
		}
		s.mu.Unlock()
		if fault == nil || !fault(w, req) {
			checked.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(s.server.Close)
	return s
}

func (s *site) add(th thing) {
	if th.repo == "" {
		th.repo = "acme/app"
	}
	th.updated = 1
	s.know(th.labels)
	s.things[fmt.Sprintf("%s#%d", th.repo, th.number)] = &th
}

// know takes up labels that the repository does not have, and returns all of them as it spells them.
func (s *site) know(labels []string) (spelled []string) {
	for _, label := range labels {
		i := slices.IndexFunc(s.known, func(l string) bool { return strings.EqualFold(l, label) })
		if i < 0 {
			i, s.known = len(s.known), append(s.known, label)
		}
		spelled = append(spelled, s.known[i])
	}
	return spelled
}

// change changes a thing.
func (s *site) change(name string, f func(*thing)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.things[name])
	s.things[name].updated++
}

func (s *site) fail(f func(w http.ResponseWriter, req *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// asked are the requests since it was called last, and how many were answered in full.
func (s *site) asked() (requests []string, fresh int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, fresh = s.requests, s.fresh
	s.requests, s.fresh = nil, 0
	return requests, fresh
}

// options are those of a tracker at the site.
func (s *site) options(cache string) github.Options {
	repo, _ := github.ParseRepository("acme/app")
	return github.Options{
		Repository: repo, API: s.server.URL, Token: token("secret"), HTTP: s.server.Client(), Cache: cache, Now: s.clock,
		Started: github.DefaultStarted, Review: github.DefaultReview,
	}
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *site) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *site) open(o github.Options) *github.Provider {
	s.t.Helper()
	p, err := github.Open(o)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *site) routes() http.Handler {
	mux := http.NewServeMux()
	const one = "/repos/{owner}/{repo}/issues/{number}"
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, req *http.Request) {
		user := s.d.sample("private-user")
		maps.Copy(user, map[string]any{"login": s.login, "user_view_type": "private", "email": nil})
		s.answer(w, req, http.StatusOK, user)
	})
	mux.HandleFunc("GET /repos/{owner}/{repo}/issues", s.list(false))
	mux.HandleFunc("GET /repos/{owner}/{repo}/pulls", s.list(true))
	mux.HandleFunc("GET /repos/{owner}/{repo}/labels", func(w http.ResponseWriter, req *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.paged(w, req, s.labels(s.known))
	})
	mux.HandleFunc("GET "+one, s.with(func(w http.ResponseWriter, req *http.Request, th *thing) { s.answer(w, req, 200, s.issue(th)) }))
	mux.HandleFunc("PATCH "+one, s.with(s.patch))
	mux.HandleFunc("GET "+one+"/sub_issues", s.with(func(w http.ResponseWriter, req *http.Request, th *thing) { s.answer(w, req, 200, s.issues(th.subs)) }))
	mux.HandleFunc("GET "+one+"/dependencies/blocked_by", s.with(func(w http.ResponseWriter, req *http.Request, th *thing) { s.answer(w, req, 200, s.issues(th.blocked)) }))
	mux.HandleFunc("GET "+one+"/comments", s.with(func(w http.ResponseWriter, req *http.Request, th *thing) {
		list := []any{}
		for _, body := range th.comments {
			list = append(list, s.comment(body))
		}
		s.paged(w, req, list)
	}))
	mux.HandleFunc("POST "+one+"/comments", s.with(s.addComment))
	mux.HandleFunc("POST "+one+"/assignees", s.with(s.assign))
	mux.HandleFunc("DELETE "+one+"/assignees", s.with(s.assign))
	mux.HandleFunc("POST "+one+"/labels", s.with(s.addLabels))
	mux.HandleFunc("DELETE "+one+"/labels/{name}", s.with(s.removeLabel))
	return mux
}

// with finds the thing of a request, and holds the site while it is used.
func (s *site) with(f func(http.ResponseWriter, *http.Request, *thing)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		name := strings.ToLower(req.PathValue("owner")+"/"+req.PathValue("repo")) + "#" + req.PathValue("number")
		th := s.things[name]
		if th == nil {
			s.refuse(w, http.StatusNotFound, "Not Found")
			return
		}
		f(w, req, th)
	}
}

func (s *site) list(pulls bool) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		repo := req.PathValue("owner") + "/" + req.PathValue("repo")
		var found []*thing
		known := repo == "acme/app"
		for _, th := range s.things {
			known = known || th.repo == repo
			if th.repo == repo && !th.closed && (th.pull || !pulls) {
				found = append(found, th)
			}
		}
		if !known {
			s.refuse(w, http.StatusNotFound, "Not Found")
			return
		}
		slices.SortFunc(found, func(a, b *thing) int { return a.number - b.number })
		list := []any{}
		for _, th := range found {
			if pulls {
				list = append(list, s.pull(th))
			} else {
				list = append(list, s.issue(th))
			}
		}
		s.paged(w, req, list)
	}
}

// paged answers with a page, and links to others.
func (s *site) paged(w http.ResponseWriter, req *http.Request, list []any) {
	query := req.URL.Query()
	number, _ := strconv.Atoi(query.Get("page"))
	size, _ := strconv.Atoi(query.Get("per_page"))
	number, size = max(number, 1), max(size, 1)
	last := max((len(list)+size-1)/size, 1)
	link := func(page int, rel string) string {
		to := url.Values{"page": {strconv.Itoa(page)}, "per_page": {strconv.Itoa(size)}}
		if s.cursors {
			to.Set("after", fmt.Sprintf("cursor-%d", page))
		}
		return fmt.Sprintf(`<https://api.github.com/repositories/1/list?%s>; rel=%q`, to.Encode(), rel)
	}
	if number < last {
		links := link(number+1, "next")
		if !s.cursors {
			links += ", " + link(last, "last")
		}
		w.Header().Set("Link", links)
	}
	from := min((number-1)*size, len(list))
	s.answer(w, req, http.StatusOK, list[from:min(from+size, len(list))])
}

// answer answers in full, or that nothing has changed.
func (s *site) answer(w http.ResponseWriter, req *http.Request, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		s.t.Error(err)
	}
	tag := fmt.Sprintf("W/%q", fmt.Sprintf("%x", sha256.Sum256(data)))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-RateLimit-Remaining", "4999")
	if req.Method == http.MethodGet {
		w.Header().Set("ETag", tag)
		if req.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		s.fresh++
	}
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

func (s *site) refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest"})
}

func token(secret string) func(ctx ctx) (string, error) {
	return func(ctx) (string, error) { return secret, nil }
}
