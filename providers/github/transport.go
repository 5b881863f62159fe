package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

const (
	// maxAnswer bounds an answer, and maxRefusal one that is no success, in bytes.
	maxAnswer, maxRefusal = 16 << 20, 64 << 10
	// requestTime bounds one request with its answer.
	requestTime = 30 * time.Second
	// maxRedirects is how often a request may be sent elsewhere at the same host: a repository that was renamed takes one.
	maxRedirects = 5
)

// The headers by which the transport tells its user what an answer is. The server can't send them.
const (
	// headerCached keeps go-github from counting requests for itself: limits outlive a process, so they are kept here.
	headerCached = "X-From-Cache"
	// headerRead is when an answer was read that a limit made us repeat, in Unix seconds, and headerUntil when the limit ends.
	headerRead, headerUntil = "X-Worklease-Read", "X-Worklease-Until"
)

var (
	errTooLarge  = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
	errElsewhere = errors.New("it redirects to another host")
	errRedirects = errors.New("it redirects in circles")
	errMethod    = errors.New("it redirects a change")
)

// transport sends requests to the API and nowhere else: with the token, on condition that what is kept has changed, and not at all while a limit holds.
type transport struct {
	base   *url.URL
	next   http.RoundTripper
	cache  *cache
	now    func() time.Time
	tokens func(context.Context) (string, error)

	mu    sync.Mutex
	known bool
	token string
	// until is when the limit ends that this process has run into.
	until time.Time
}

func newTransport(o Options, base *url.URL, c *cache) *transport {
	t := &transport{base: base, cache: c, now: o.Now, tokens: o.Token, next: http.DefaultTransport}
	if o.HTTP != nil && o.HTTP.Transport != nil {
		t.next = o.HTTP.Transport
	}
	return t
}

// client is one that uses the transport.
func (t *transport) client(like *http.Client) *http.Client {
	c := &http.Client{Transport: t, CheckRedirect: t.follow}
	if like != nil {
		c.Timeout = like.Timeout
	}
	return c
}

// follow lets a redirect be followed that stays at the API's host and repeats the request.
func (t *transport) follow(req *http.Request, via []*http.Request) error {
	switch {
	case !t.ours(req.URL):
		return errElsewhere
	case req.Method != via[0].Method:
		return errMethod
	case len(via) > maxRedirects:
		return errRedirects
	}
	return nil
}

func (t *transport) ours(u *url.URL) bool { return u.Scheme == t.base.Scheme && u.Host == t.base.Host }

// auth is the user's token, which is found once; "" where there is none.
func (t *transport) auth(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known || t.tokens == nil {
		return t.token, nil
	}
	token, err := t.tokens(ctx)
	if err != nil {
		return "", err
	}
	token = strings.TrimSpace(token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("the token has characters that none has: %w", providers.ErrUnauthorised)
	}
	t.known, t.token = true, token
	return token, nil
}

// staleKey marks the context of a request whose answer may be one that was kept, while a limit holds.
type staleKey struct{}

// RoundTrip implements [http.RoundTripper]. The answer's body has been read.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.ours(req.URL) {
		return nil, errElsewhere
	}
	token, err := t.auth(req.Context())
	if err != nil {
		return nil, err
	}
	var kept *entry
	name := ""
	if req.Method == http.MethodGet {
		name = t.cache.name(t.base.String(), token, req.URL.String())
		kept = t.cache.load(name)
	}
	if until := t.limit(token); t.now().Before(until) {
		return t.limited(req, kept, until)
	}
	resp, err := t.send(req, token, kept)
	if err != nil {
		return nil, err
	}
	if until := t.note(resp, token); !until.IsZero() {
		return t.limited(req, kept, until)
	}
	switch {
	case resp.StatusCode == http.StatusNotModified && kept != nil:
		t.cache.touch(name)
		return kept.answer(req, resp.Header), nil
	case resp.StatusCode == http.StatusOK && name != "":
		t.cache.save(name, resp)
	}
	return resp, nil
}

// send sends a request and reads the whole answer.
func (t *transport) send(req *http.Request, token string, kept *entry) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), requestTime)
	defer cancel()
	out := req.Clone(ctx)
	out.Header.Del("Authorization")
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	if kept != nil {
		out.Header.Set("If-None-Match", kept.ETag)
	}
	resp, err := t.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	body, err := readBody(resp)
	if err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength, resp.Request = io.NopCloser(bytes.NewReader(body)), int64(len(body)), req
	resp.Header.Del(headerRead)
	resp.Header.Del(headerUntil)
	resp.Header.Set(headerCached, "1")
	return resp, nil
}

// readBody reads an answer as far as it may go.
func readBody(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close() //nolint:errcheck // it was read
	success := resp.StatusCode < 300
	limit := int64(maxRefusal)
	if success {
		limit = maxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case !success:
		return body[:min(int64(len(body)), limit)], nil
	case err != nil:
		return nil, err
	case int64(len(body)) > limit:
		return nil, errTooLarge
	}
	return body, nil
}

// limited is the answer while a limit holds: what was kept, where that will do.
func (t *transport) limited(req *http.Request, kept *entry, until time.Time) (*http.Response, error) {
	if kept == nil || req.Context().Value(staleKey{}) == nil {
		return nil, &providers.RateLimitedError{Until: until, Request: requestName(req.Method, req.URL)}
	}
	resp := kept.answer(req, http.Header{})
	resp.Header.Set(headerRead, strconv.FormatInt(kept.read.Unix(), 10))
	resp.Header.Set(headerUntil, strconv.FormatInt(until.Unix(), 10))
	return resp, nil
}

// requestName is what messages call a request.
func requestName(method string, u *url.URL) string {
	return method + " " + u.Scheme + "://" + u.Host + u.EscapedPath()
}
