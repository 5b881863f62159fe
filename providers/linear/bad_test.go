package linear

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// now is the time of these tests.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ms(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// TestBadAnswers: what Linear answers instead of data is one clear error that names the request, and never an item or the token.
func TestBadAnswers(t *testing.T) {
	graph := func(code, message string) string {
		return fmt.Sprintf(`{"errors":[{"message":%q,"extensions":{"code":%q}}]}`, message, code)
	}
	for name, test := range map[string]struct {
		status      int
		contentType string
		body        string
		is          error
		says        string
	}{
		"401":                   {401, "application/json", graph("AUTHENTICATION_ERROR", "You need "+token), providers.ErrUnauthorised, "LINEAR_API_KEY was refused (You need ***): not authorised"},
		"400 for the token":     {400, "application/json", graph("AUTHENTICATION_ERROR", "Authentication required"), providers.ErrUnauthorised, "LINEAR_API_KEY was refused (Authentication required)"},
		"200 for the token":     {200, "application/json", `{"data":null,"errors":[{"message":"no","extensions":{"type":"authentication error"}}]}`, providers.ErrUnauthorised, "LINEAR_API_KEY was refused (no)"},
		"401 without words":     {401, "text/html", "", providers.ErrUnauthorised, "LINEAR_API_KEY was refused: not authorised"},
		"403":                   {403, "application/json", graph("FORBIDDEN", "no scope"), providers.ErrUnauthorised, "LINEAR_API_KEY may not do that (no scope)"},
		"429":                   {429, "text/plain", "slow down", providers.ErrRateLimited, "rate limited"},
		"400 for the rate":      {400, "application/json", graph("RATELIMITED", "Rate limit exceeded"), providers.ErrRateLimited, "rate limited"},
		"a rate in a status":    {400, "application/json", `{"errors":[{"message":"x","extensions":{"statusCode":429}}]}`, providers.ErrRateLimited, "rate limited"},
		"400":                   {400, "application/json", graph("GRAPHQL_VALIDATION_FAILED", "Query too complex"), providers.ErrBroken, "Query too complex"},
		"404":                   {404, "text/html", "<html>", providers.ErrBroken, "answered with 404"},
		"500":                   {500, "application/json", graph("INTERNAL_SERVER_ERROR", "oops"), providers.ErrUnavailable, "answered with 500 (oops)"},
		"503":                   {503, "text/html", "<html>gone</html>", providers.ErrUnavailable, "answered with 503"},
		"302":                   {302, "text/html", "", providers.ErrBroken, "redirected with 302"},
		"HTML":                  {200, "text/html", "\n<!DOCTYPE html><html>", providers.ErrBroken, "a page of HTML"},
		"nothing":               {200, "application/json", "", providers.ErrBroken, "answered nothing"},
		"no JSON":               {200, "application/json", `{"data":{`, providers.ErrBroken, "not JSON"},
		"a list":                {200, "application/json", `[]`, providers.ErrBroken, "not JSON as expected"},
		"neither":               {200, "application/json", `{}`, providers.ErrBroken, "without data"},
		"null":                  {200, "application/json", `{"data":null,"errors":null}`, providers.ErrBroken, "without data"},
		"errors alone":          {200, "application/json", `{"errors":[{"message":"it went wrong"}]}`, providers.ErrBroken, "it went wrong"},
		"errors without words":  {200, "application/json", `{"errors":[{}]}`, providers.ErrBroken, "an error without words"},
		"no issues":             {200, "application/json", `{"data":{"issues":null,"teams":null}}`, providers.ErrBroken, "without issues"},
		"another type":          {200, "application/json", `{"data":{"issues":7}}`, providers.ErrBroken, "cannot unmarshal"},
		"very many words":       {200, "application/json", `{"errors":[{"message":"` + strings.Repeat("ü", 5000) + `"}]}`, providers.ErrBroken, "üü…"},
		"no words for a reader": {200, "application/json", `{"errors":[{"message":"a","extensions":{"userPresentableMessage":"b"}}]}`, providers.ErrBroken, ": b"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.furnish()
			w.instead = says(test.status, test.contentType, test.body)
			listing, err := w.open(nil).List(t.Context(), nil)
			if listing != nil || !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "linear: page 1 of the issues") {
				t.Errorf("list: %+v, %v", listing, err)
			}
			item, err := w.open(nil).Read(t.Context(), "linear:eng-2")
			if item != nil || !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "linear: issue ENG-2") {
				t.Errorf("read: %+v, %v", item, err)
			}
			if strings.Contains(err.Error(), token) || len(err.Error()) > 400 || strings.Contains(err.Error(), "\n") {
				t.Errorf("%d bytes: %v", len(err.Error()), err)
			}
			mark, err := w.open(nil).Start(t.Context(), "linear:eng-2", providers.Worker{})
			if !mark.IsZero() || !errors.Is(err, test.is) {
				t.Errorf("start: %+v, %v", mark, err)
			}
		})
	}
}

func TestAnswerOfAHundredMegabytes(t *testing.T) {
	w := newWorkspace(t)
	sent := 0
	w.instead = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		_, _ = io.WriteString(w, `{"data":{"issues":{"nodes":["`)
		chunk := strings.Repeat("x", 1<<20)
		for range 100 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return true
			}
			sent++
		}
		return true
	}
	_, err := w.open(nil).List(t.Context(), nil)
	if !errors.Is(err, providers.ErrBroken) || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if sent > 60 {
		t.Errorf("%d MiB were taken", sent)
	}
}

func TestNobodyAnswers(t *testing.T) {
	w := newWorkspace(t)
	w.furnish()
	p := w.open(nil)
	w.instead = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			t.Error(err)
		}
		return true
	}
	if _, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrUnavailable) || strings.Contains(err.Error(), token) {
		t.Error(err)
	}
	p.patience = time.Nanosecond
	if _, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrUnavailable) || !strings.HasSuffix(err.Error(), "no answer within 1ns") || errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	p.patience = time.Hour
	w.Close()
	if _, err := p.Read(t.Context(), "linear:eng-2"); !errors.Is(err, providers.ErrUnavailable) || strings.Contains(err.Error(), w.URL) {
		t.Error(err)
	}
}

// TestTokenIsForOnePlace: no redirect is followed, to whatever host, and without a token nobody is asked.
func TestTokenIsForOnePlace(t *testing.T) {
	w := newWorkspace(t)
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		w.instead = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, other.URL, status)
			return true
		}
		p := w.open(func(o *Options) {
			o.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
		})
		if _, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrBroken) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if asked {
		t.Error("a redirect was followed")
	}
	before := w.requests
	p := w.open(func(o *Options) { o.Token = " " })
	if _, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrUnauthorised) || !strings.Contains(err.Error(), "LINEAR_API_KEY is not set") {
		t.Error(err)
	}
	if w.requests != before {
		t.Error("it was asked without a token")
	}
}

func TestTokenOfAnotherKind(t *testing.T) {
	for given, sent := range map[string]string{"lin_api_x": "lin_api_x", " lin_api_x\n": "lin_api_x", "lin_oauth_x": "Bearer lin_oauth_x", "Bearer y": "Bearer y"} {
		if p := testProvider(t, Options{Teams: []string{"ENG"}, Token: given}); p.token != sent {
			t.Errorf("%q is sent as %q", given, p.token)
		}
	}
}

func TestRateLimit(t *testing.T) {
	at := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	for name, test := range map[string]struct {
		headers map[string]string
		until   time.Time
	}{
		"the requests":           {map[string]string{"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": ms(at(90)), "X-RateLimit-Complexity-Reset": ms(at(500))}, at(90)},
		"the complexity":         {map[string]string{"X-RateLimit-Requests-Remaining": "7", "X-RateLimit-Requests-Reset": ms(at(90)), "X-RateLimit-Complexity-Remaining": "0", "X-RateLimit-Complexity-Reset": ms(at(50))}, at(50)},
		"both":                   {map[string]string{"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": ms(at(90)), "X-RateLimit-Complexity-Remaining": "0", "X-RateLimit-Complexity-Reset": ms(at(50))}, at(90)},
		"the endpoint":           {map[string]string{"X-RateLimit-Endpoint-Requests-Remaining": "0", "X-RateLimit-Endpoint-Requests-Reset": ms(at(9))}, at(9)},
		"too dear":               {map[string]string{"X-RateLimit-Requests-Remaining": "7", "X-RateLimit-Requests-Reset": ms(at(90)), "X-RateLimit-Complexity-Remaining": "70", "X-RateLimit-Complexity-Reset": ms(at(500))}, at(500)},
		"seconds":                {map[string]string{"Retry-After": "30"}, at(30)},
		"a date":                 {map[string]string{"Retry-After": at(40).Format(http.TimeFormat)}, at(40)},
		"nothing":                {nil, time.Time{}},
		"the past":               {map[string]string{"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": ms(at(-90))}, time.Time{}},
		"a time in seconds":      {map[string]string{"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": strconv.FormatInt(at(90).Unix(), 10)}, time.Time{}},
		"years":                  {map[string]string{"X-RateLimit-Requests-Reset": ms(now.AddDate(5, 0, 0)), "Retry-After": "999999999"}, time.Time{}},
		"no numbers":             {map[string]string{"X-RateLimit-Requests-Reset": "soon", "Retry-After": "-5"}, time.Time{}},
		"a number beyond number": {map[string]string{"X-RateLimit-Requests-Reset": "9223372036854775807"}, time.Time{}},
	} {
		h := http.Header{}
		for k, v := range test.headers {
			h.Set(k, v)
		}
		if got := resetOf(h, now); !got.Equal(test.until) {
			t.Errorf("%s: %v, want %v", name, got, test.until)
		}
	}
}

// TestCase39LimitIsObeyed is row 39 of the cases: an API quota was eaten by polling. What was told to wait asks nobody until then.
func TestCase39LimitIsObeyed(t *testing.T) {
	w := newWorkspace(t)
	w.furnish()
	clock := now
	p := w.open(func(o *Options) { o.Now = func() time.Time { return clock } })
	until := now.Add(time.Minute)
	w.instead = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-RateLimit-Requests-Remaining", "0")
		w.Header().Set("X-RateLimit-Requests-Reset", ms(until))
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"errors":[{"message":"Rate limit exceeded","extensions":{"code":"RATELIMITED"}}]}`)
		return true
	}
	for range 3 {
		var limited *providers.RateLimitedError
		if _, err := p.List(t.Context(), nil); !errors.As(err, &limited) || !limited.Until.Equal(until) || limited.Request != "linear: page 1 of the issues" {
			t.Errorf("%v", err)
		}
	}
	if w.requests != 1 {
		t.Errorf("it was asked %d times", w.requests)
	}
	w.instead = nil
	clock = until
	if l, err := p.List(t.Context(), nil); err != nil || len(l.Items) != 5 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestBadOptions(t *testing.T) {
	good := func(change func(*Options)) error {
		o := Options{Teams: []string{"ENG"}, Token: token}
		change(&o)
		_, err := Open(o)
		return err
	}
	if err := good(func(*Options) {}); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"[providers.linear] teams: no team is named":                            func(o *Options) { o.Teams = nil },
		`[providers.linear] teams: "" is not the key`:                           func(o *Options) { o.Teams = []string{"ENG", ""} },
		`[providers.linear] teams: "E-1" is not the key of a team, such as ENG`: func(o *Options) { o.Teams = []string{"E-1"} },
		"[providers.linear] teams: 51 teams are named, more than 50":            func(o *Options) { o.Teams = many(51) },
		`[providers.linear] workspace: "a/b" is not the name of a workspace`:    func(o *Options) { o.Workspace = "a/b" },
		"http://api.linear.app is not https":                                    func(o *Options) { o.Endpoint = "http://api.linear.app/graphql" },
		"http://127.0.0.1.evil.example is not https":                            func(o *Options) { o.Endpoint = "http://127.0.0.1.evil.example/" },
		"ftp://a is not https":                                                  func(o *Options) { o.Endpoint = "ftp://a" },
		"it has a user":                                                         func(o *Options) { o.Endpoint = "https://x:y@api.linear.app/" },
		"it is not an address":                                                  func(o *Options) { o.Endpoint = "api.linear.app" },
		"LINEAR_API_KEY has a character that no token has: not authorised":      func(o *Options) { o.Token = "lin_api_a\r\nX-Other: b" },
		"LINEAR_API_KEY has a character that no token has":                      func(o *Options) { o.Token = "Bearer a b" },
	} {
		if err := good(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, endpoint := range []string{"https://proxy.example/linear", "http://localhost:8080/", "http://[::1]:1/"} {
		if err := good(func(o *Options) { o.Endpoint = endpoint }); err != nil {
			t.Error(err)
		}
	}
}

func many(n int) []string {
	teams := make([]string, n)
	for i := range teams {
		teams[i] = "T" + strconv.Itoa(i)
	}
	return teams
}

func TestInterrupted(t *testing.T) {
	w := newWorkspace(t)
	w.furnish()
	ctx, cancel := context.WithCancel(t.Context())
	w.change = func(n int, _ object) {
		if n == 2 {
			cancel()
		}
	}
	if l, err := w.open(nil).List(ctx, nil); l != nil || !errors.Is(err, context.Canceled) || errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("%+v, %v", l, err)
	}
}
