package httpgit

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
)

func (t *transport) unavailable(trouble refstore.Trouble, sent bool, err error) error {
	return &refstore.UnavailableError{URL: t.name, Trouble: trouble, Sent: sent, Err: err}
}

// notReady is for settings that can't be used: files that can't be read, or what is not implemented.
func (t *transport) notReady(err error) error {
	var setting settingError
	if errors.As(err, &setting) {
		return &refstore.UnsupportedError{URL: t.name, Feature: refstore.FeatureConfig, Detail: string(setting)}
	}
	return t.unavailable(refstore.TroubleLocal, false, err)
}

// refused is for a status that ends a call.
func (t *transport) refused(resp *http.Response) error {
	err := fmt.Errorf("the server answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	trouble := refstore.TroubleGarbage
	sent := resp.StatusCode >= 500 || resp.StatusCode == http.StatusRequestTimeout || resp.StatusCode < 300
	switch code := resp.StatusCode; {
	case code == http.StatusForbidden, code == http.StatusRequestEntityTooLarge:
		trouble = refstore.TroubleDenied
	case code == http.StatusNotFound, code == http.StatusGone:
		trouble = refstore.TroubleNotFound
	case code == http.StatusProxyAuthRequired:
		trouble = refstore.TroubleAuth
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		trouble = refstore.TroubleBusy
	}
	return t.unavailable(trouble, sent, err)
}

// redirectError says that the server wants a request elsewhere that is not followed there.
type redirectError struct{}

func (redirectError) Error() string { return "the server redirects the request" }

func isRedirect(err error) bool { return errors.As(err, &redirectError{}) }

// final turns a redirect that was not followed into what callers know.
func (t *transport) final(err error) error {
	if isRedirect(err) {
		return &refstore.UnsupportedError{URL: t.name, Feature: refstore.FeatureConfig, Detail: "redirect"}
	}
	return err
}

// nothingSent is for a push that failed while the server was asked for its advertisement.
func nothingSent(err error) error {
	var u *refstore.UnavailableError
	if errors.As(err, &u) {
		u.Sent = false
	}
	return err
}

// worthAsking says whether a read without the advertisement failed in a way that the advertisement may explain: the repository has moved,
// has another format, or the server does not speak version 2.
func worthAsking(err error) bool {
	return isRedirect(err) || errors.Is(err, gitwire.ErrMalformed) || errors.Is(err, gitwire.ErrRemote) || errors.Is(err, io.ErrUnexpectedEOF)
}
