package gitserver

import (
	"net/http"
	"strings"
)

// Fault makes an [HTTPServer] misbehave at chosen requests. Those that lack credentials never meet one.
type Fault struct {
	// When picks requests; nil: all.
	When Match
	// Nth is which of the picked requests fails, counted from 1 from when the fault was injected; 0: each.
	Nth int
	// Do is what happens.
	Do Action
}

// Match picks requests.
type Match func(*http.Request) bool

// Push picks the requests that carry a push.
func Push(r *http.Request) bool { return posts(r, "git-receive-pack") }

// Fetch picks the requests that read, protocol v2's ls-refs among them.
func Fetch(r *http.Request) bool { return posts(r, "git-upload-pack") }

// AdvertisePush picks the requests for the refs and capabilities before a push.
func AdvertisePush(r *http.Request) bool { return advertises(r, "git-receive-pack") }

// AdvertiseFetch picks the requests for the refs or capabilities before a read.
func AdvertiseFetch(r *http.Request) bool { return advertises(r, "git-upload-pack") }

func posts(r *http.Request, service string) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/"+service)
}

func advertises(r *http.Request, service string) bool {
	return strings.HasSuffix(r.URL.Path, "/info/refs") && r.URL.Query().Get("service") == service
}

// Inject adds faults. Where several pick a request, the one injected first meets it first.
func (s *HTTPServer) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		s.faults = append(s.faults, &injected{Fault: f})
	}
}

// Heal takes all faults away.
func (s *HTTPServer) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// injected is a fault with the number of requests that it has picked.
type injected struct {
	Fault
	picked int
}

// chain is backend behind the faults.
func (s *HTTPServer) chain(backend http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := backend
		actions := s.meets(r)
		for i := len(actions) - 1; i >= 0; i-- {
			do, inner := actions[i], next
			next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { do(w, r, inner, s.done) })
		}
		next.ServeHTTP(w, r)
	})
}

// meets counts r and returns what it meets.
func (s *HTTPServer) meets(r *http.Request) []Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	var actions []Action
	for _, f := range s.faults {
		if f.When != nil && !f.When(r) {
			continue
		}
		f.picked++
		if f.Nth == 0 || f.Nth == f.picked {
			actions = append(actions, f.Do)
		}
	}
	return actions
}
