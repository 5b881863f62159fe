package localgit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/git-worklease/git-worklease/refstore"
)

// errOdd is told of what git can make sense of and we can't.
var errOdd = errors.New("an unusual ref")

func (t *transport) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	if ctx.Err() != nil {
		return nil, t.trouble(ctx, ctx.Err())
	}
	storage, err := t.look()
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]refstore.OID{}, nil
	}
	var refs map[string]refstore.OID
	if err == nil {
		refs, err = t.read(ctx, storage, prefixes)
	}
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	return refs, nil
}

func (t *transport) read(ctx context.Context, storage storage, prefixes []string) (map[string]refstore.OID, error) {
	if storage != files {
		return t.askGit(ctx, prefixes)
	}
	refs, err := t.readFiles(prefixes)
	if err == nil && !puzzling(refs) || err != nil && !errors.Is(err, errOdd) {
		return refs, err
	}
	listed, err := t.askGit(ctx, prefixes)
	if err != nil {
		return nil, err
	}
	for name, oid := range refs {
		if _, ok := listed[name]; !ok && oid == refstore.Unreadable { // git leaves out what it can't read either
			listed[name] = oid
		}
	}
	return listed, nil
}

// puzzling says whether the file of one of refs could not be read or made sense of, as git may.
func puzzling(refs map[string]refstore.OID) bool {
	for _, oid := range refs {
		if oid == refstore.Unreadable {
			return true
		}
	}
	return false
}

// askGit lists the refs through git.
func (t *transport) askGit(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	args := t.args("for-each-ref", "--format=%(objectname) %(refname)")
	for _, p := range prefixes {
		args = append(args, folder(p))
	}
	out, err := t.git.Output(ctx, args...)
	if err != nil {
		return nil, err
	}
	return parseListed(out)
}

// parseListed reads the lines "OID NAME" that git was asked for.
func parseListed(out []byte) (map[string]refstore.OID, error) {
	refs := make(map[string]refstore.OID)
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		oid, err := refstore.ParseOID(id)
		if err != nil || oid.IsZero() || name == "" {
			return nil, fmt.Errorf("git for-each-ref: %.80q", line)
		}
		refs[name] = oid
	}
	return refs, nil
}

// folder is the part of prefix up to its last slash.
func folder(prefix string) string { return prefix[:strings.LastIndexByte(prefix, '/')+1] }

// readFiles reads first the files of single refs, and packed-refs after them: git packs refs in the other order, so a ref that is
// packed meanwhile is still seen.
func (t *transport) readFiles(prefixes []string) (map[string]refstore.OID, error) {
	refs := make(map[string]refstore.OID)
	for _, p := range prefixes {
		if !strings.HasPrefix(p, "refs/") || strings.Contains(p, "..") {
			return nil, errOdd
		}
		if err := t.readFolder(folder(p), p, refs); err != nil {
			return nil, err
		}
		// A ref that git replaces while its folder is read may be missed there.
		if !strings.HasSuffix(p, "/") {
			t.readRef(p, refs)
		}
	}
	return refs, t.readPacked(refs, func(name string) bool { return hasAnyPrefix(name, prefixes) })
}

// tips reads the named refs alone, in the same order.
func (t *transport) tips(names map[string]bool) (map[string]refstore.OID, error) {
	refs := make(map[string]refstore.OID)
	for name := range names {
		t.readRef(name, refs)
	}
	return refs, t.readPacked(refs, func(name string) bool { return names[name] })
}

// readFolder reads the refs in and below dir whose names start with prefix.
func (t *transport) readFolder(dir, prefix string, refs map[string]refstore.OID) error {
	f, err := os.Open(t.path(dir))
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := f.ReadDir(-1)
	_ = f.Close() // only read
	if absent(err) {
		return nil // its refs were packed meanwhile, and it was removed
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		// A lock tells of a ref as well, which may get its file while we read.
		name := dir + strings.TrimSuffix(e.Name(), ".lock")
		if e.IsDir() {
			name += "/"
		}
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if !e.IsDir() {
			t.readRef(name, refs)
		} else if err := t.readFolder(name, prefix, refs); err != nil {
			return err
		}
	}
	return nil
}

// readRef reads the file of one ref, which may be absent. Git may know more of one that can't be read here: how to wait for a file that is being
// replaced, or which ref it names.
func (t *transport) readRef(name string, refs map[string]refstore.OID) {
	content, err := os.ReadFile(t.path(name))
	if absent(err) || errors.Is(err, syscall.EISDIR) {
		return
	}
	refs[name] = refstore.Unreadable
	if err != nil {
		return
	}
	if oid, err := parseRef(content); err == nil {
		refs[name] = oid
	}
}

// parseRef reads the content of a ref's file.
func parseRef(content []byte) (refstore.OID, error) {
	text := strings.TrimRight(string(content), " \t\r\n")
	if strings.HasPrefix(text, "ref:") {
		return "", errOdd
	}
	oid, err := refstore.ParseOID(text)
	if err != nil || oid.IsZero() {
		return "", fmt.Errorf("damaged: %.80q", text)
	}
	return oid, nil
}

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

func (t *transport) path(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

// readPacked adds the packed refs that are wanted and have no file of their own.
func (t *transport) readPacked(refs map[string]refstore.OID, wanted func(string) bool) error {
	packed, err := os.ReadFile(filepath.Join(t.dir, "packed-refs"))
	if absent(err) {
		return nil
	}
	if err != nil {
		return errOdd
	}
	return parsePacked(packed, refs, wanted)
}

func parsePacked(packed []byte, refs map[string]refstore.OID, wanted func(string) bool) error {
	for line := range bytes.Lines(packed) {
		if line[0] == '#' || line[0] == '^' {
			continue
		}
		id, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		if _, loose := refs[rest]; loose || !wanted(rest) {
			continue
		}
		oid, err := refstore.ParseOID(id)
		if err != nil || oid.IsZero() {
			return fmt.Errorf("packed-refs: damaged: %.80q", line)
		}
		refs[rest] = oid
	}
	return nil
}

func hasAnyPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
