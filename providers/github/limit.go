package github

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// unsaid is how long nothing is sent where the API does not say how long.
	unsaid = time.Minute
	// longest is how long nothing is sent, whatever the API says.
	longest = time.Hour
)

// limit is when the limit ends that was last run into, by this process or another with the same token.
func (t *transport) limit(token string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.until.IsZero() {
		t.until = t.cache.loadLimit(t.cache.name(t.base.String(), token, "limit"))
	}
	if latest := t.now().Add(longest); t.until.After(latest) {
		t.until = latest
	}
	return t.until
}

// note keeps in mind what an answer says of limits. It returns when the limit ends that refused this request; zero for one that was not refused.
func (t *transport) note(resp *http.Response, token string) time.Time {
	now := t.now()
	spent := resp.Header.Get("X-RateLimit-Remaining") == "0"
	refused := (resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusTooManyRequests) &&
		(spent || resp.Header.Get("Retry-After") != "" || resp.StatusCode == http.StatusTooManyRequests || saysLimit(resp))
	if !refused && !spent {
		return time.Time{}
	}
	until := limitEnd(resp.Header, now, refused)
	if until.After(now) {
		t.mu.Lock()
		t.until = until
		t.mu.Unlock()
		t.cache.saveLimit(t.cache.name(t.base.String(), token, "limit"), until)
	}
	if !refused {
		return time.Time{}
	}
	return until
}

// limitEnd is when an answer wants to be asked again.
func limitEnd(h http.Header, now time.Time, refused bool) time.Time {
	until := now
	if refused {
		until = now.Add(unsaid)
	}
	after := h.Get("Retry-After")
	seconds, err := strconv.ParseInt(after, 10, 64)
	date, dateErr := http.ParseTime(after)
	reset, resetErr := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	switch {
	case after != "" && err == nil && seconds >= 0:
		until = now.Add(time.Duration(min(seconds, int64(longest/time.Second))) * time.Second)
	case after != "" && dateErr == nil:
		until = date
	case resetErr == nil && reset > 0 && h.Get("X-RateLimit-Remaining") == "0":
		until = time.Unix(reset, 0)
	}
	if latest := now.Add(longest); until.After(latest) {
		until = latest
	}
	if refused && !until.After(now) { // a clock that differs from the server's
		until = now.Add(time.Second)
	}
	return until
}

// saysLimit says whether a refusal's text is about a limit: some of them have no header that tells so.
func saysLimit(resp *http.Response) bool {
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var told struct {
		Message string `json:"message"`
		URL     string `json:"documentation_url"`
	}
	if err != nil || json.Unmarshal(body, &told) != nil {
		return false
	}
	return strings.Contains(lower(told.Message), "rate limit") || strings.Contains(told.URL, "rate-limit") || strings.Contains(told.URL, "abuse")
}
