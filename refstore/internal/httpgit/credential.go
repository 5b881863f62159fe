package httpgit

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/git-worklease/git-worklease/refstore"
)

// credential is what a server was told, and what git's helpers are told of its success. It is never printed.
type credential struct {
	header   string // value of Authorization; "" for none
	origin   string // scheme and host that it is for
	told     []byte // in git credential's form
	approved bool
}

// approveTime bounds how long a helper may take to store a credential.
const approveTime = 10 * time.Second

var errNoCredential = errors.New("no credentials")

// credentialFor is what this process knows for the server at base.
func (t *transport) credentialFor(base string) credential {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.auth.origin != originOfText(base) {
		return credential{}
	}
	return t.auth
}

// authenticate gets credentials after a 401 to a request that carried used. It returns nil where another try makes sense.
func (t *transport) authenticate(ctx context.Context, resp *http.Response, used credential) error {
	t.authMu.Lock()
	defer t.authMu.Unlock()
	base := t.where()
	if now := t.credentialFor(base); now.header != used.header {
		return nil // another goroutine got them meanwhile
	}
	if used.header != "" {
		t.reject(ctx, used)
		return t.unavailable(refstore.TroubleAuth, false, errors.New("the server refused the credentials"))
	}
	schemes := resp.Header.Values("WWW-Authenticate")
	if scheme, ok := strange(schemes); ok {
		return &refstore.UnsupportedError{URL: t.name, Feature: refstore.FeatureConfig, Detail: "authentication by " + scheme}
	}
	c, err := t.fill(ctx, base, schemes)
	if err != nil {
		trouble := refstore.TroubleAuth
		if ctx.Err() != nil {
			trouble = refstore.TroubleDeadline
		}
		return t.unavailable(trouble, false, err)
	}
	t.mu.Lock()
	t.auth = c
	t.mu.Unlock()
	return nil
}

// strange names a way to authenticate where the server offers none that we have.
func strange(schemes []string) (string, bool) {
	name := ""
	for _, s := range schemes {
		name, _, _ = strings.Cut(s, " ")
		if strings.EqualFold(name, "basic") || strings.EqualFold(name, "bearer") {
			return "", false
		}
	}
	return name, name != ""
}

// fill gets credentials from the URL, else from git.
func (t *transport) fill(ctx context.Context, base string, schemes []string) (credential, error) {
	u, err := url.Parse(base)
	if err != nil {
		return credential{}, errNoCredential
	}
	if strings.ContainsAny(u.Host+u.Path+t.user+t.pass, "\n\r\x00") {
		return credential{}, fmt.Errorf("%w for a URL with a line break", errNoCredential)
	}
	var ask bytes.Buffer
	fmt.Fprintf(&ask, "capability[]=authtype\nprotocol=%s\nhost=%s\npath=%s\n", u.Scheme, u.Host, strings.TrimPrefix(u.Path, "/"))
	ours := originOf(u) == originOfText(t.name)
	if t.user != "" && ours {
		fmt.Fprintf(&ask, "username=%s\n", t.user)
	}
	if t.pass != "" && ours {
		fmt.Fprintf(&ask, "password=%s\n", t.pass)
		return credentialOf(ask.Bytes(), originOf(u))
	}
	for _, s := range schemes {
		fmt.Fprintf(&ask, "wwwauth[]=%s\n", s)
	}
	answered := t.o.Git.Ask()
	out, err := t.o.Git.Pipe(ctx, ask.Bytes(), "credential", "fill")
	answered()
	if err != nil {
		return credential{}, err
	}
	return credentialOf(out, originOf(u))
}

// credentialOf reads a description in git credential's form.
func credentialOf(told []byte, origin string) (credential, error) {
	values := make(map[string]string)
	for line := range strings.Lines(string(told)) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		values[name] = value
	}
	c := credential{origin: origin, told: told}
	switch {
	case values["authtype"] != "" && values["credential"] != "":
		c.header = values["authtype"] + " " + values["credential"]
		if strings.ContainsFunc(c.header, unicode.IsControl) {
			return credential{}, errNoCredential
		}
	case values["password"] != "" || values["username"] != "":
		pair := values["username"] + ":" + values["password"]
		c.header = "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
	default:
		return credential{}, errNoCredential
	}
	return c, nil
}

// approve tells git's helpers, once and beside other work, that a credential works.
func (t *transport) approve(ctx context.Context, used credential) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if used.header == "" || t.auth.header != used.header || t.auth.approved {
		return
	}
	t.auth.approved = true
	t.approvals.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), approveTime)
		defer cancel()
		_, _ = t.o.Git.Pipe(ctx, used.told, "credential", "approve") // no helper, nothing stored
	})
}

// reject makes git's helpers forget a credential, and us.
func (t *transport) reject(ctx context.Context, used credential) {
	_, _ = t.o.Git.Pipe(ctx, slices.Clone(used.told), "credential", "reject")
	t.mu.Lock()
	defer t.mu.Unlock()
	t.auth = credential{}
}
