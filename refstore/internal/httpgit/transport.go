package httpgit

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
)

// Options say where the repository is and how to reach it.
type Options struct {
	// URL is the repository's, http or https, possibly with a user and a password.
	URL string
	// Git runs git credential. Its environment also has the proxies and git's own variables for HTTP.
	Git *gitexec.Git
	// Config is git's configuration; nil: none.
	Config *gitexec.Config
	// Known is what was learned of the server earlier; zero: nothing.
	Known refstore.Server
	// Now is the wall clock. It stamps what is learned and is compared with the server's Date.
	Now func() time.Time
}

type transport struct {
	o    Options
	name string // the URL without credentials
	user string // of the URL
	pass string

	once    sync.Once
	set     settings
	client  *http.Transport
	unready error

	approvals sync.WaitGroup
	authMu    sync.Mutex // held while credentials are got
	mu        sync.Mutex
	base      string // the name, or where it was redirected to
	server    refstore.Server
	v0        *gitwire.Advert // of upload-pack, where it does not speak version 2
	auth      credential
	skew      skew
}

// New makes the transport. It opens nothing; what is wrong with the URL or the settings is said by the first exchange.
func New(o Options) refstore.Transport {
	t := &transport{o: o, server: o.Known}
	t.name, t.user, t.pass = splitURL(o.URL)
	t.base = t.name
	return t
}

// Refs implements [refstore.Transport].
func (t *transport) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	if t.Server().ReadV2 {
		if refs, err := t.lsRefs(ctx, prefixes); !worthAsking(err) {
			return refs, err
		}
	}
	advert, err := t.advertOf(ctx, uploadPack, prefixes)
	if err != nil {
		return nil, err
	}
	if advert.Version == 2 {
		refs, err := t.lsRefs(ctx, prefixes)
		return refs, t.final(err)
	}
	return advert.Refs, nil
}

// Commits implements [refstore.Transport].
func (t *transport) Commits(ctx context.Context, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	if len(wants) == 0 {
		return nil, nil
	}
	if t.Server().ReadV2 {
		if objects, err := t.fetch(ctx, nil, wants, depth); !worthAsking(err) {
			return objects, err
		}
	}
	advert := t.advertV0()
	if advert == nil {
		var err error
		if advert, err = t.advertOf(ctx, uploadPack, nil); err != nil {
			return nil, err
		}
	}
	objects, err := t.fetch(ctx, advert, wants, depth)
	return objects, t.final(err)
}

// Push implements [refstore.Transport]. It asks for the advertisement where what is known does not suffice, or where the
// server wants the request elsewhere.
func (t *transport) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	if err := gitwire.OnlySHA1(t.name, tx.Format); err != nil {
		return nil, err
	}
	if gitwire.Blind(t.Server(), len(tx.Updates)) {
		report, err := t.receive(ctx, tx, nil)
		if !isRedirect(err) {
			return report, err
		}
	}
	advert, err := t.advertOf(ctx, receivePack, gitwire.Prefixes(tx))
	if err != nil {
		return nil, nothingSent(err)
	}
	if err := advert.Unfit(t.name, tx); err != nil {
		return nil, err
	}
	if tx.Contradicts(advert.Refs) {
		return &refstore.Report{Stale: true, Advertised: advert.Refs}, nil
	}
	report, err := t.receive(ctx, tx, advert)
	if err != nil {
		return nil, t.final(err)
	}
	report.Advertised = advert.Refs
	return report, nil
}

// Server implements [refstore.Transport].
func (t *transport) Server() refstore.Server {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.server
}

// Skew implements [refstore.Transport], from the reply that took the shortest time.
func (t *transport) Skew() (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skew.offset, t.skew.known
}

// Close implements [refstore.Transport]. It waits for credential helpers that are being told of a success.
func (t *transport) Close() error {
	t.approvals.Wait()
	if client, err := t.ready(); err == nil {
		client.CloseIdleConnections()
	}
	return nil
}

func (t *transport) advertV0() *gitwire.Advert {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.v0
}

// ready makes the client at the first use.
func (t *transport) ready() (*http.Transport, error) {
	t.once.Do(func() {
		env := envOf(t.o.Git)
		if t.set, t.unready = readSettings(t.o.Config, env, t.o.URL); t.unready == nil {
			t.client, t.unready = newClient(t.set, env, strings.HasPrefix(t.name, "https:"))
		}
	})
	return t.client, t.unready
}
