package pathgit

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
)

// Options say where the repository is.
type Options struct {
	// URL is a path or a file:// URL. A relative path counts from Git.Dir.
	URL string
	// Git runs the services.
	Git *gitexec.Git
	// Known is what was learned of the repository earlier; zero: nothing.
	Known refstore.Server
	// Now is the wall clock, which stamps what is learned.
	Now func() time.Time
}

type transport struct {
	options Options
	path    string

	mu     sync.Mutex
	server refstore.Server
}

// New makes the transport. It opens nothing.
func New(o Options) refstore.Transport {
	return &transport{options: o, path: gitexec.FilePath(o.URL), server: o.Known}
}

// Refs implements [refstore.Transport] by ls-refs of protocol version 2.
func (t *transport) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	var refs map[string]refstore.OID
	err := t.read(ctx, func(w io.Writer) error {
		return gitwire.WriteLsRefs(w, prefixes)
	}, func(r *gitwire.Reader) (err error) {
		refs, err = gitwire.ReadRefs(r)
		return err
	})
	return refs, err
}

// Commits implements [refstore.Transport] by fetch of protocol version 2.
func (t *transport) Commits(ctx context.Context, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	if len(wants) == 0 {
		return nil, nil
	}
	var objects []refstore.Object
	err := t.read(ctx, func(w io.Writer) error {
		return gitwire.WriteFetch(w, wants, depth)
	}, func(r *gitwire.Reader) (err error) {
		objects, err = gitwire.ReadFetch(r)
		return err
	})
	return objects, err
}

// read has one exchange with upload-pack.
func (t *transport) read(ctx context.Context, write func(io.Writer) error, read func(*gitwire.Reader) error) error {
	p, err := t.start(ctx, reader, "--stateless-rpc")
	if err != nil {
		return t.notStarted(ctx, err)
	}
	_ = write(p)
	p.closeInput()
	// A service that failed at once says why in its answer, whatever became of the request.
	if err := read(p.answer); err != nil {
		return t.failed(ctx, p, false, err)
	}
	_ = p.finish()
	return nil
}

// Push implements [refstore.Transport]. It asks for the advertisement where what is known does not suffice.
func (t *transport) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	if err := gitwire.OnlySHA1(t.options.URL, tx.Format); err != nil {
		return nil, err
	}
	args := []string{writer}
	blind := gitwire.Blind(t.Server(), len(tx.Updates))
	if blind {
		args = append(args, "--stateless-rpc")
	}
	p, err := t.start(ctx, args...)
	if err != nil {
		return nil, t.notStarted(ctx, err)
	}
	if blind {
		return t.send(ctx, p, tx, nil)
	}
	return t.askAndSend(ctx, p, tx)
}

func (t *transport) askAndSend(ctx context.Context, p *process, tx *refstore.Tx) (*refstore.Report, error) {
	advert, err := gitwire.ReadAdvert(p.answer, gitwire.Prefixes(tx))
	if err != nil {
		return nil, t.failed(ctx, p, false, err)
	}
	t.mu.Lock()
	t.server = advert.Learned(t.server, t.options.Now())
	t.mu.Unlock()
	if err := advert.Unfit(t.options.URL, tx); err != nil {
		p.hangUp()
		return nil, err
	}
	if tx.Contradicts(advert.Refs) {
		p.hangUp()
		return &refstore.Report{Stale: true, Advertised: advert.Refs}, nil
	}
	return t.send(ctx, p, tx, advert)
}

func (t *transport) send(ctx context.Context, p *process, tx *refstore.Tx, a *gitwire.Advert) (*refstore.Report, error) {
	wrote := gitwire.WritePush(p, tx, a)
	p.closeInput()
	if wrote != nil && !p.sent {
		return nil, t.failed(ctx, p, false, wrote)
	}
	report, err := gitwire.ReadReport(p.answer, tx)
	if err != nil {
		return nil, t.failed(ctx, p, true, err)
	}
	_ = p.finish()
	if a != nil {
		report.Advertised = a.Refs
	}
	return report, nil
}

// Server implements [refstore.Transport].
func (t *transport) Server() refstore.Server {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.server
}

// Skew implements [refstore.Transport]: there is no server's clock.
func (t *transport) Skew() (time.Duration, bool) { return 0, false }

// Close implements [refstore.Transport]. Nothing stays open between exchanges.
func (t *transport) Close() error { return nil }
