package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	gh "github.com/google/go-github/v66/github"

	"github.com/git-worklease/git-worklease/providers"
)

// failure is what an error of a request means. name is what messages call the request.
func (p *Provider) failure(ctx context.Context, name string, err error) error {
	var limited *providers.RateLimitedError
	var answer *gh.ErrorResponse
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", name, ctx.Err())
	case errors.As(err, &limited):
		return limited
	case errors.Is(err, providers.ErrUnauthorised), errors.Is(err, providers.ErrBroken):
		return fmt.Errorf("%s: %w", name, err)
	case errors.As(err, &answer):
		return p.refusal(name, answer)
	case errors.As(err, new(*gh.TwoFactorAuthError)):
		return fmt.Errorf("%s: it wants a second factor: %w", name, providers.ErrUnauthorised)
	}
	for _, senseless := range []error{errTooLarge, errElsewhere, errRedirects, errMethod} {
		if errors.Is(err, senseless) {
			return broken(name, senseless)
		}
	}
	if decoding(err) {
		return broken(name, fmt.Errorf("the answer is no JSON of GitHub's: %w", err))
	}
	if sent := new(url.Error); errors.As(err, &sent) { // which names the request again
		err = sent.Err
	}
	return fmt.Errorf("%s: %w: %w", name, providers.ErrUnavailable, err)
}

// refusal is what an answer that is no success means.
func (p *Provider) refusal(name string, answer *gh.ErrorResponse) error {
	code := answer.Response.StatusCode
	told := fmt.Sprintf("%s: %d", name, code)
	if words := short(answer.Message); words != "" {
		told += " " + words
	}
	switch {
	case code == http.StatusUnauthorized && p.transport.anonymous():
		return fmt.Errorf("%s: there is no token in GITHUB_TOKEN or GH_TOKEN, of gh, or of git's: %w", told, providers.ErrUnauthorised)
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%s: the token is refused: %w", told, providers.ErrUnauthorised)
	case code == http.StatusForbidden:
		return fmt.Errorf("%s%s: %w", told, scope(answer.Response.Header), providers.ErrUnauthorised)
	case code == http.StatusNotFound || code == http.StatusGone:
		return fmt.Errorf("%s: %w", told, providers.ErrNotFound)
	case code == http.StatusUnprocessableEntity:
		return fmt.Errorf("%s: %w", told, providers.ErrUnsupported)
	case code >= 500:
		return fmt.Errorf("%s: %w", told, providers.ErrUnavailable)
	}
	return broken(name, fmt.Errorf("its answer is status %d", code))
}

// scope says what a token lacks, where the answer tells.
func scope(h http.Header) string {
	for _, name := range []string{"X-Accepted-GitHub-Permissions", "X-Accepted-OAuth-Scopes"} {
		if wanted := short(h.Get(name)); wanted != "" {
			return ": the token lacks " + wanted
		}
	}
	return ""
}

// anonymous says whether requests go out without a token.
func (t *transport) anonymous() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.token == ""
}

// short is a line of what a server has said.
func short(words string) string {
	words = strings.Join(strings.FieldsFunc(words, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(words) > 200 {
		words = strings.ToValidUTF8(words[:200], "") + "…"
	}
	return words
}
