package httpgit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
)

// call is one request of a repository's service, and what its answer must be.
type call struct {
	method  string
	tail    string // of the URL, after the repository
	content string // type of the body
	answer  string // type of the answer
	body    []byte
	v2      bool // asks for protocol version 2
	once    bool // changes something, so it is not repeated once sent
}

// maxTurns bounds how often a call is redirected or has to authenticate.
const maxTurns = 10

// maxDrain bounds, in bytes, what is read of an unwanted answer so that its connection can be used again.
const maxDrain = 64 << 10

// exchange makes a call, with credentials if the server wants some, and reads the answer.
func (t *transport) exchange(ctx context.Context, c *call, read func(*gitwire.Reader) error) error {
	resp, err := t.answered(ctx, c)
	if err != nil {
		return err
	}
	if !c.answeredBy(resp) {
		err = fmt.Errorf("%w: content type %q", gitwire.ErrMalformed, resp.Header.Get("Content-Type"))
	} else {
		err = read(gitwire.NewReader(resp.Body))
	}
	if err != nil {
		_ = resp.Body.Close()
		return t.unavailable(gitwire.Trouble(ctx, err), true, err)
	}
	discard(resp.Body)
	return nil
}

// answeredBy says whether a reply is that of a git server rather than somebody's page.
func (c *call) answeredBy(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && kind == c.answer
}

// answered makes a call until its status is 200.
func (t *transport) answered(ctx context.Context, c *call) (*http.Response, error) {
	for range maxTurns {
		auth := t.credentialFor(t.where())
		resp, err := t.roundTrip(ctx, c, auth)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusOK {
			t.approve(ctx, auth)
			return resp, nil
		}
		discard(resp.Body)
		switch {
		case resp.StatusCode == http.StatusUnauthorized:
			err = t.authenticate(ctx, resp, auth)
		case isRedirected(resp):
			err = t.redirect(c, resp)
		default:
			err = t.refused(resp)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, t.unavailable(refstore.TroubleGarbage, false, errors.New("too many redirects"))
}

func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxDrain)
	_ = body.Close()
}

// roundTrip sends a call once. Its errors say whether the server may have begun.
func (t *transport) roundTrip(ctx context.Context, c *call, auth credential) (*http.Response, error) {
	client, err := t.ready()
	if err != nil {
		return nil, t.notReady(err)
	}
	watch := watch{now: t.o.Now}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, watch.trace()), c.method, t.where()+c.tail, bytes.NewReader(c.body))
	if err != nil {
		return nil, t.unavailable(refstore.TroubleLocal, false, errors.New("not a URL"))
	}
	if c.once {
		req.GetBody = nil // or net/http might send it twice
	}
	t.setHeaders(req, c, auth)
	resp, err := client.RoundTrip(req)
	if err != nil {
		return nil, t.unavailable(watch.trouble(ctx, err), watch.sent.Load(), err)
	}
	t.observe(&watch, c, resp)
	return resp, nil
}

func (t *transport) setHeaders(req *http.Request, c *call, auth credential) {
	h := req.Header
	h.Set("User-Agent", t.set.userAgent)
	h.Set("Accept", c.answer)
	if c.content != "" {
		h.Set("Content-Type", c.content)
	}
	if c.v2 {
		h.Set("Git-Protocol", "version=2")
	}
	t.set.addExtra(h, originOf(req.URL) == originOfText(t.name))
	if auth.header != "" {
		h.Set("Authorization", auth.header)
	}
}

// watch notes how far a request came, and when.
type watch struct {
	now          func() time.Time
	connected    atomic.Bool // it had a connection
	sent         atomic.Bool // its head was written to one
	wrote, first atomic.Pointer[time.Time]
}

func (w *watch) trace() *httptrace.ClientTrace {
	mark := func(p *atomic.Pointer[time.Time]) { now := w.now(); p.Store(&now) }
	return &httptrace.ClientTrace{
		GotConn:              func(httptrace.GotConnInfo) { w.connected.Store(true) },
		WroteHeaders:         func() { w.sent.Store(true) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { mark(&w.wrote) },
		GotFirstResponseByte: func() { mark(&w.first) },
	}
}

// trouble sorts what went wrong. A server that takes a connection and drops it before it was sent anything has too many of them.
func (w *watch) trouble(ctx context.Context, err error) refstore.Trouble {
	trouble := gitwire.Trouble(ctx, err)
	if trouble == refstore.TroubleNetwork && w.connected.Load() && !w.sent.Load() {
		return refstore.TroubleBusy
	}
	return trouble
}
