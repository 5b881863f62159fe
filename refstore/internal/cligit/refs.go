package cligit

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// Refs lists all refs, and keeps those asked for: `git ls-remote` has no way to send prefixes.
func (t *transport) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	out, err := t.lsRemote(ctx)
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	refs, err := parseListing(out)
	if err != nil {
		u := t.trouble(ctx, fmt.Errorf("git ls-remote: %w", err))
		u.Trouble = refstore.TroubleGarbage
		return nil, u
	}
	for _, oid := range refs {
		if oid != refstore.Unreadable {
			t.sawOID(oid)
			break // all are of one format
		}
	}
	maps.DeleteFunc(refs, func(name string, _ refstore.OID) bool { return !hasPrefix(name, prefixes) })
	return refs, nil
}

// parseListing reads the lines "OID <tab> NAME" of git ls-remote.
func parseListing(out []byte) (map[string]refstore.OID, error) {
	refs := make(map[string]refstore.OID)
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		oid, err := refstore.ParseTip(id)
		if err != nil || name == "" {
			return nil, fmt.Errorf("%w: %.80q", refstore.ErrBadOID, line)
		}
		refs[name] = oid
	}
	return refs, nil
}

// sawOID tells the object format of a server that did not name it.
func (t *transport) sawOID(oid refstore.OID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.server.Format != "" {
		return
	}
	t.server.Format = refstore.SHA1
	if len(oid) == len(refstore.SHA256.ZeroID()) {
		t.server.Format = refstore.SHA256
	}
}

// lsRemote is traced for as long as the server's object format, which an empty repository has too, is not known.
func (t *transport) lsRemote(ctx context.Context) ([]byte, error) {
	r, err := t.repo(t.format())
	if err != nil {
		return nil, err
	}
	g, args, err := t.command(ctx, r.dir, "ls-remote", "--refs", "--quiet", "--", t.o.URL)
	if err != nil {
		return nil, err
	}
	if t.Server().Format == "" {
		var file string
		if g.Env, file, err = traced(g.Env, r.dir); err != nil {
			return nil, err
		}
		defer func() { t.learn(readTrace(file).reading()) }()
	}
	out, err := run(ctx, g, args, nil)
	return out.stdout, err
}

// reading is what a trace of a command that reads tells: nothing of receive-pack.
func (tr *trace) reading() *trace { return &trace{format: tr.format, version2: tr.version2} }
