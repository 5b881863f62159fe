package linear

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/providers"
)

const (
	// longestPause is the longest time that a rate limit is believed to last. Linear's windows are an hour.
	longestPause = 2 * time.Hour
	// maxMessage is in bytes, of the words of the server that a message repeats.
	maxMessage = 200
)

// fault is an error of GraphQL: of all that was asked for, or of the part at its path.
type fault struct {
	Message    string `json:"message"`
	Path       []any  `json:"path"`
	Extensions struct {
		Code    string `json:"code"`
		Type    string `json:"type"`
		Status  int    `json:"statusCode"`
		Message string `json:"userPresentableMessage"`
	} `json:"extensions"`
}

// index is the number in a list that the path begins with; -1 where it leads elsewhere.
func (f fault) index(field, list string) int {
	if len(f.Path) < 3 || f.Path[0] != field || f.Path[1] != list {
		return -1
	}
	n, ok := f.Path[2].(float64)
	if !ok || n < 0 || n != float64(int(n)) {
		return -1
	}
	return int(n)
}

// judge turns an answer into data, or into the one error that it is.
func (p *Provider) judge(what string, got *response, data any) ([]fault, error) {
	var envelope struct {
		Data   json.RawMessage `json:"data"`
		Errors []fault         `json:"errors"`
	}
	malformed := json.Unmarshal(got.body, &envelope)
	if malformed != nil {
		envelope.Errors = nil
	}
	empty := len(envelope.Data) == 0 || string(envelope.Data) == "null"
	if err := p.refusal(what, got, general(envelope.Errors, empty)); err != nil {
		return nil, err
	}
	broken := func(err error) ([]fault, error) { return nil, &providers.BrokenError{Where: what, Err: err} }
	switch {
	case got.status >= 300 && got.status < 400:
		return broken(fmt.Errorf("redirected with %d, which is not followed, as the token is for one place alone", got.status))
	case got.status != http.StatusOK && len(envelope.Errors) > 0, empty && len(envelope.Errors) > 0:
		return broken(errors.New(p.words(envelope.Errors)))
	case got.status != http.StatusOK:
		return broken(fmt.Errorf("answered with %d", got.status))
	case len(bytes.TrimSpace(got.body)) == 0:
		return broken(errors.New("answered nothing"))
	case malformed != nil && bytes.HasPrefix(bytes.TrimSpace(got.body), []byte("<")):
		return broken(errors.New("answered with a page of HTML"))
	case malformed != nil:
		return broken(fmt.Errorf("not JSON as expected: %w", malformed))
	case empty:
		return broken(errors.New("answered without data"))
	}
	if err := json.Unmarshal(envelope.Data, data); err != nil {
		return broken(err)
	}
	return envelope.Errors, nil
}

// general are the faults that are not of a part of what was answered, such as an issue that may not be seen.
func general(faults []fault, empty bool) []fault {
	return slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !empty && len(f.Path) > 1 })
}

// refusal is the error of an answer that says why there is none: too many requests, the token, or trouble of the server's own. Linear answers the
// first with status 400.
func (p *Provider) refusal(what string, got *response, faults []fault) error {
	status := got.status
	says := func(status int, codes ...string) bool {
		for _, f := range faults {
			for _, code := range codes {
				if strings.EqualFold(f.Extensions.Code, code) || strings.EqualFold(f.Extensions.Type, strings.ReplaceAll(code, "_", " ")) {
					return true
				}
			}
			if f.Extensions.Status == status {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusTooManyRequests, says(http.StatusTooManyRequests, "RATELIMITED"):
		until := resetOf(got.header, p.now())
		p.pause(until)
		return &providers.RateLimitedError{Until: until, Request: what}
	case status == http.StatusUnauthorized, says(http.StatusUnauthorized, "AUTHENTICATION_ERROR"):
		return fmt.Errorf("%s: LINEAR_API_KEY was refused%s: %w", what, p.because(faults), providers.ErrUnauthorised)
	case status == http.StatusForbidden, says(http.StatusForbidden, "FORBIDDEN"):
		return fmt.Errorf("%s: LINEAR_API_KEY may not do that%s: %w", what, p.because(faults), providers.ErrUnauthorised)
	case status >= 500:
		return fmt.Errorf("%s: %w: answered with %d%s", what, providers.ErrUnavailable, status, p.because(faults))
	}
	return nil
}

func (p *Provider) because(faults []fault) string {
	if len(faults) == 0 {
		return ""
	}
	return " (" + p.words(faults) + ")"
}

// words are what the first of some faults says.
func (p *Provider) words(faults []fault) string {
	message := faults[0].Extensions.Message
	if message == "" {
		message = faults[0].Message
	}
	if message == "" {
		message = "an error without words"
	}
	return p.clean(message)
}

// clean is a server's text, short and without the token, which a server may well repeat.
func (p *Provider) clean(text string) string {
	if secret := strings.TrimPrefix(p.token, "Bearer "); secret != "" {
		text = strings.ReplaceAll(text, secret, "***")
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// resetOf is when a limit that was met ends, by the headers: that of the limits that are used up, or else the latest of all; zero where nothing credible is said.
func resetOf(h http.Header, now time.Time) time.Time {
	credible := func(t time.Time) bool { return t.After(now) && !t.After(now.Add(longestPause)) }
	var used, latest time.Time
	for _, limit := range []string{"Requests", "Complexity", "Endpoint-Requests"} {
		ms, err := strconv.ParseInt(h.Get("X-Ratelimit-"+limit+"-Reset"), 10, 64)
		t := time.UnixMilli(ms)
		if err != nil || !credible(t) {
			continue
		}
		if h.Get("X-Ratelimit-"+limit+"-Remaining") == "0" && t.After(used) {
			used = t
		}
		if t.After(latest) {
			latest = t
		}
	}
	if !used.IsZero() {
		return used
	}
	after := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(after, 10, 32); err == nil {
		if t := now.Add(time.Duration(seconds) * time.Second); credible(t) {
			return t
		}
	}
	if t, err := http.ParseTime(after); err == nil && credible(t) {
		return t
	}
	return latest
}
