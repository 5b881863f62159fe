package localgit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// Push looks at the refs first: a process that has lost a race need not start git to be told.
func (t *transport) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	if tx.Format != "" && tx.Format != refstore.SHA1 {
		return nil, &refstore.UnsupportedError{URL: url, Feature: refstore.FeatureFormat, Detail: string(tx.Format)}
	}
	if ctx.Err() != nil {
		return nil, t.trouble(ctx, ctx.Err())
	}
	if err := t.create(ctx); err != nil {
		return nil, t.trouble(ctx, err)
	}
	if tips, err := t.tipsOf(ctx, tx); err != nil {
		return nil, t.trouble(ctx, err)
	} else if tips != nil && tx.Contradicts(tips) {
		return &refstore.Report{Stale: true, Advertised: tips}, nil
	}
	return t.transact(ctx, tx)
}

// tipsOf reads the refs of tx, where they are in files, and fails where one can't be read. It is nil where the transaction will tell.
func (t *transport) tipsOf(ctx context.Context, tx *refstore.Tx) (map[string]refstore.OID, error) {
	if storage, err := t.look(); err != nil || storage != files {
		return nil, nil //nolint:nilerr // git finds it as well, and says it better
	}
	names := make(map[string]bool, len(tx.Updates))
	for i := range tx.Updates {
		names[tx.Updates[i].Ref] = true
	}
	tips, err := t.tips(names)
	if err == nil && puzzling(tips) {
		tips, err = t.read(ctx, files, slices.Collect(maps.Keys(names)))
	}
	if err != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	for name := range names {
		if tips[name] == refstore.Unreadable {
			return nil, fmt.Errorf("%s: %w", name, refstore.ErrUnreadable)
		}
	}
	return tips, nil
}

// script is the transaction in the language of `git update-ref --stdin -z`.
func script(tx *refstore.Tx) []byte {
	var b bytes.Buffer
	b.WriteString("start\x00")
	for i := range tx.Updates {
		u := &tx.Updates[i]
		b.WriteString("option no-deref\x00")
		if u.New.IsZero() {
			fmt.Fprintf(&b, "delete %s\x00%s\x00", u.Ref, u.Old)
			continue
		}
		old := string(u.Old)
		if u.Old.IsZero() {
			old = refstore.SHA1.ZeroID()
		}
		fmt.Fprintf(&b, "update %s\x00%s\x00%s\x00", u.Ref, u.New, old)
	}
	b.WriteString("prepare\x00commit\x00")
	return b.Bytes()
}

// transact makes tx in one process. The objects are written while that starts; it has nothing to do before it is told. It is never killed, for
// it may be between two refs: where the context ends first it finishes by itself, and the outcome is left to be read.
func (t *transport) transact(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	run := t.early.take()
	if run == nil {
		run = t.launch()
	}
	if run.err != nil {
		return nil, t.trouble(ctx, run.err)
	}
	err := t.objects.WriteTx(tx)
	if err == nil {
		_, _ = run.stdin.Write(script(tx)) // whether git has got it, it says itself
	}
	ended := run.end()
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	select {
	case err := <-ended:
		return run.report(tx, err)
	case <-ctx.Done():
		return nil, &refstore.UnavailableError{URL: url, Trouble: refstore.TroubleDeadline, Sent: true, Err: context.Cause(ctx)}
	}
}

// report judges by what git had come to when it ended. Before "prepare: ok" it has changed nothing; after "commit: ok" everything.
// Having read the script, it refuses by its exit status; what it says of the reason is kept for people.
func (run *transaction) report(tx *refstore.Tx, err error) (*refstore.Report, error) {
	came := func(word string) bool { return strings.Contains(run.stdout.String(), word+": ok\n") }
	words := strings.TrimSpace(run.stderr.String())
	exited := run.cmd.ProcessState != nil && run.cmd.ProcessState.Exited()
	switch {
	case err == nil && came("commit"):
		return &refstore.Report{Unpack: "ok", Words: words}, nil
	case err != nil && exited && came("start") && !came("prepare"):
		refused := make(map[string]string, len(tx.Updates))
		for i := range tx.Updates {
			refused[tx.Updates[i].Ref] = words
		}
		return &refstore.Report{Unpack: "ok", Refused: refused, Words: words}, nil
	case err == nil:
		err = errors.New("git update-ref: no answer")
	default:
		err = fmt.Errorf("git update-ref: %w: %s", err, words)
	}
	// A git that was killed may not have said how far it had come.
	sent := !exited || came("prepare")
	return nil, &refstore.UnavailableError{URL: url, Trouble: refstore.TroubleLocal, Sent: sent, Err: err}
}
