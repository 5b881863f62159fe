package cligit

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// Push leases every ref at its old OID. Git compares that with what the server advertises, and the server once more with what it holds.
func (t *transport) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	format := tx.Format
	if format == "" {
		format = refstore.SHA1
	}
	if known := t.Server().Format; known != "" && known != format {
		return nil, t.unsupported(refstore.FeatureFormat, string(known))
	}
	for i := range tx.Updates {
		if u := &tx.Updates[i]; u.New.IsZero() && u.Old.IsZero() {
			return nil, t.trouble(ctx, fmt.Errorf("%w: delete %s without naming what it holds", refstore.ErrBadChange, u.Ref))
		}
	}
	r, err := t.repo(format)
	if err == nil {
		err = r.objects.WriteTx(tx)
	}
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	tips, err := t.parents(ctx, r, tx)
	if err != nil {
		return nil, err
	}
	if tips != nil && tx.Contradicts(tips) {
		return &refstore.Report{Stale: true, Advertised: tips}, nil
	}
	return t.push(ctx, r, tx)
}

// parents sees to it that the commits which tx builds upon are here: git needs them to find out what to send. Where the server does not send one
// it returns the refs, which then contradict tx.
func (t *transport) parents(ctx context.Context, r *repo, tx *refstore.Tx) (tips map[string]refstore.OID, err error) {
	var olds []refstore.OID
	for i := range tx.Updates {
		if u := &tx.Updates[i]; !u.Old.IsZero() && !u.New.IsZero() {
			olds = append(olds, u.Old)
		}
	}
	_, missing, err := t.walk(ctx, r, olds, 1)
	if err == nil && len(missing) > 0 {
		if err = t.obtain(ctx, r, missing, 1); err == nil {
			_, missing, err = t.walk(ctx, r, olds, 1)
		}
	}
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	if len(missing) == 0 {
		return tips, nil
	}
	if tips, err = t.Refs(ctx, []string{"refs/"}); err == nil && !tx.Contradicts(tips) {
		err = t.trouble(ctx, fmt.Errorf("git fetch: the server did not send %s", missing[0].Short()))
	}
	return tips, err
}

// pushArgs asks for --atomic where that says anything: a server may lack it.
func pushArgs(url string, tx *refstore.Tx) []string {
	args := []string{"push", "--porcelain", "--no-verify", "--no-thin", "--no-progress"}
	if len(tx.Updates) > 1 {
		args = append(args, "--atomic")
	}
	for i := range tx.Updates {
		args = append(args, "--force-with-lease="+tx.Updates[i].Ref+":"+string(tx.Updates[i].Old))
	}
	args = append(args, "--", url)
	for i := range tx.Updates {
		args = append(args, string(tx.Updates[i].New)+":"+tx.Updates[i].Ref)
	}
	return args
}

// onceArgs keep curl from sending a push twice. It repeats a request by itself when a connection that it has used before breaks, and then a
// complete report on the second says nothing of the first; so no connection is used twice.
func onceArgs() []string {
	return []string{"-c", "http.version=HTTP/1.1", "-c", "http.extraHeader=Connection: close"}
}

func (t *transport) push(ctx context.Context, r *repo, tx *refstore.Tx) (*refstore.Report, error) {
	g, args, err := t.command(ctx, r.dir, append(onceArgs(), pushArgs(t.o.URL, tx)...)...)
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	env, remove, err := grafted(g.Env, r.dir, tx)
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	defer remove()
	g.Env = env
	var file string
	if g.Env, file, err = traced(g.Env, r.dir); err != nil {
		return nil, t.trouble(ctx, err)
	}
	out, err := run(ctx, g, args, nil)
	tr := readTrace(file)
	t.learn(tr)
	if err == nil {
		err = errNoWord
	}
	return t.conclude(ctx, tx, r.objects.Format, &pushed{out, tr, err})
}

var errNoWord = errors.New("git push: no word on every ref")

// pushed is what is known of a push that has ended.
type pushed struct {
	outcome
	trace *trace
	// err is what to tell where there is no report.
	err error
}

// conclude judges a push by git's report on each ref, and where there is none, by whether anything can have been sent.
func (t *transport) conclude(ctx context.Context, tx *refstore.Tx, format refstore.Format, p *pushed) (*refstore.Report, error) {
	result, tr := parsePorcelain(string(p.stdout)), p.trace
	helper := gitexec.KindOf(t.o.URL) == gitexec.KindHelper
	if helper {
		// It may say so of one ref and have sent another.
		maps.Copy(result.refused, result.unsent)
		result.unsent = nil
	}
	unsent := !p.started || p.ended && tr.alive && !tr.commanded && !helper
	switch {
	case len(result.unsent) > 0 && !tr.commanded:
		return &refstore.Report{Stale: true, Advertised: tr.advertised}, nil
	case result.complete(tx):
		return &refstore.Report{Unpack: "ok", Refused: result.refused, Words: remoteWords(p.stderr)}, nil
	case !unsent:
		return nil, t.sent(ctx, p.err)
	case tr.advertised == nil:
		return nil, t.trouble(ctx, p.err)
	case tr.format != "" && tr.format != format:
		return nil, t.unsupported(refstore.FeatureFormat, string(tr.format))
	case tx.Contradicts(tr.advertised):
		return &refstore.Report{Stale: true, Advertised: tr.advertised}, nil
	case len(tx.Updates) > 1 && !tr.atomic:
		return nil, t.unsupported(refstore.FeatureAtomic, "")
	}
	return nil, t.trouble(ctx, p.err)
}

func (t *transport) unsupported(f refstore.Feature, detail string) error {
	return &refstore.UnsupportedError{URL: gitexec.Redact(t.o.URL), Feature: f, Detail: detail}
}

// sent tells of a request that the server may have received.
func (t *transport) sent(ctx context.Context, err error) error {
	u := t.trouble(ctx, err)
	u.Sent = true
	return u
}
