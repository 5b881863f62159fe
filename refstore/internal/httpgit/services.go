package httpgit

import (
	"bytes"
	"context"
	"net/http"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
)

// The services of a repository.
const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// advertOf reads a service's advertisement, following redirects, and remembers what it says.
func (t *transport) advertOf(ctx context.Context, service string, prefixes []string) (*gitwire.Advert, error) {
	c := call{method: http.MethodGet, tail: "/info/refs?service=" + service, answer: "application/x-" + service + "-advertisement", v2: service == uploadPack}
	var advert *gitwire.Advert
	err := t.exchange(ctx, &c, func(r *gitwire.Reader) (err error) {
		advert, err = gitwire.ReadAdvert(r, prefixes)
		return err
	})
	if err != nil {
		return nil, t.final(err)
	}
	if service == receivePack {
		t.mu.Lock()
		t.server = advert.Learned(t.server, t.o.Now())
		t.mu.Unlock()
		return advert, nil
	}
	if err := gitwire.OnlySHA1(t.name, advert.Format); err != nil {
		return nil, err
	}
	t.learnReads(advert)
	return advert, nil
}

func (t *transport) learnReads(advert *gitwire.Advert) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.v0 = nil
	t.server.ReadV2 = advert.Version == 2
	if !t.server.ReadV2 {
		t.v0 = advert
	}
}

// lsRefs asks in version 2.
func (t *transport) lsRefs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	var body bytes.Buffer
	if err := gitwire.WriteLsRefs(&body, prefixes); err != nil {
		return nil, t.unavailable(refstore.TroubleLocal, false, err)
	}
	c := post(uploadPack, body.Bytes())
	c.v2 = true
	var refs map[string]refstore.OID
	err := t.exchange(ctx, &c, func(r *gitwire.Reader) (err error) {
		refs, err = gitwire.ReadRefs(r)
		return err
	})
	return refs, err
}

// fetch asks in the advertisement's version; nil: in version 2.
func (t *transport) fetch(ctx context.Context, a *gitwire.Advert, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	v2 := a == nil || a.Version == 2
	var body bytes.Buffer
	write := func() error { return gitwire.WriteFetchV0(&body, a, wants, depth) }
	read := gitwire.ReadFetchV0
	if v2 {
		write = func() error { return gitwire.WriteFetch(&body, wants, depth) }
		read = gitwire.ReadFetch
	}
	if err := write(); err != nil {
		return nil, t.unavailable(refstore.TroubleLocal, false, err)
	}
	c := post(uploadPack, body.Bytes())
	c.v2 = v2
	var objects []refstore.Object
	err := t.exchange(ctx, &c, func(r *gitwire.Reader) (err error) {
		objects, err = read(r)
		return err
	})
	return objects, err
}

// receive sends tx to receive-pack.
func (t *transport) receive(ctx context.Context, tx *refstore.Tx, a *gitwire.Advert) (*refstore.Report, error) {
	var body bytes.Buffer
	if err := gitwire.WritePush(&body, tx, a); err != nil {
		return nil, t.unavailable(refstore.TroubleLocal, false, err)
	}
	c := post(receivePack, body.Bytes())
	c.once = true
	var report *refstore.Report
	err := t.exchange(ctx, &c, func(r *gitwire.Reader) (err error) {
		report, err = gitwire.ReadReport(r, tx)
		return err
	})
	return report, err
}

func post(service string, body []byte) call {
	return call{
		method: http.MethodPost, tail: "/" + service, body: body,
		content: "application/x-" + service + "-request", answer: "application/x-" + service + "-result",
	}
}
