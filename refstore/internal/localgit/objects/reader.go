package objects

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// Reader reads commits. It starts a git process when it meets the first object that is not loose. It is not safe for use by
// several goroutines.
type Reader struct {
	dir   Dir
	start func() *exec.Cmd
	batch *batch
}

// NewReader reads from d. start makes the command `git cat-file --batch` for the repository.
func (d Dir) NewReader(start func() *exec.Cmd) *Reader {
	return &Reader{dir: d, start: start}
}

// Close ends the git process, if there is one.
func (r *Reader) Close() error {
	if r.batch == nil {
		return nil
	}
	return r.batch.close()
}

// Walk reads the wanted commits with up to depth-1 ancestors each, as far as they are here. missing lists what isn't. Objects that are
// no commits, or damaged, are left out of both.
func (r *Reader) Walk(ctx context.Context, wants []refstore.OID, depth int) (found []refstore.Object, missing []refstore.OID, err error) {
	seen := make(map[refstore.OID]bool, len(wants))
	for level := wants; len(level) > 0 && depth > 0; depth-- {
		var parents []refstore.OID
		for _, oid := range level {
			if seen[oid] {
				continue
			}
			seen[oid] = true
			content, ok, err := r.read(ctx, oid)
			switch {
			case err != nil:
				return nil, nil, err
			case !ok:
				missing = append(missing, oid)
			case content != nil:
				found = append(found, refstore.Object{OID: oid, Content: content})
				parents = appendParents(parents, content)
			}
		}
		level = parents
	}
	return found, missing, nil
}

// read says whether the object is here. Its content is nil where it is no commit that could be a record.
func (r *Reader) read(ctx context.Context, oid refstore.OID) (content []byte, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if _, err := refstore.ParseOID(string(oid)); err != nil || oid.IsZero() {
		return nil, false, fmt.Errorf("object %q: %w", oid, refstore.ErrBadOID)
	}
	content, err = r.dir.readLoose(oid)
	switch {
	case err == nil:
		return content, true, nil
	case errors.Is(err, errNotCommit):
		return nil, true, nil
	case !errors.Is(err, fs.ErrNotExist):
		// A damaged loose object may have a good twin in a pack.
		content, ok, batchErr := r.readPacked(oid)
		return content, ok || batchErr != nil, nil
	}
	return r.readPacked(oid)
}

func (r *Reader) readPacked(oid refstore.OID) (content []byte, ok bool, err error) {
	if r.batch == nil {
		b, err := startBatch(r.start())
		if err != nil {
			return nil, false, err
		}
		r.batch = b
	}
	return r.batch.read(oid)
}

// appendParents adds the parents that a commit's headers name.
func appendParents(to []refstore.OID, content []byte) []refstore.OID {
	headers, _, _ := bytes.Cut(content, []byte("\n\n"))
	for line := range strings.Lines(string(headers)) {
		id, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "parent ")
		if !ok {
			continue
		}
		if oid, err := refstore.ParseOID(id); err == nil && !oid.IsZero() {
			to = append(to, oid)
		}
	}
	return to
}

// batch is a running `git cat-file --batch`.
type batch struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

func startBatch(cmd *exec.Cmd) (*batch, error) {
	b := &batch{cmd: cmd}
	cmd.Stderr = &b.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.stdin, b.stdout = stdin, bufio.NewReader(stdout)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *batch) read(oid refstore.OID) (content []byte, ok bool, err error) {
	if _, err := io.WriteString(b.stdin, string(oid)+"\n"); err != nil {
		return nil, false, b.broken(err)
	}
	if content, ok, err = readAnswer(b.stdout); err != nil {
		return nil, false, b.broken(err)
	}
	return content, ok, nil
}

// readAnswer reads git's answer to one object's name: "NAME missing", or a line "NAME TYPE SIZE", the content and a new line. Of what is no commit that could
// be a record the content is nil.
func readAnswer(r *bufio.Reader) (content []byte, ok bool, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, false, err
	}
	fields := strings.Fields(string(line))
	if len(fields) == 2 && fields[1] == "missing" {
		return nil, false, nil
	}
	if len(fields) != 3 {
		return nil, false, fmt.Errorf("%.80q", line)
	}
	size, err := strconv.ParseUint(fields[2], 10, 62)
	if err != nil {
		return nil, false, err
	}
	if fields[1] != "commit" || size > refstore.MaxCommit {
		_, err = io.CopyN(io.Discard, r, int64(size)+1)
		return nil, err == nil, err
	}
	content = make([]byte, size+1)
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, false, err
	}
	return content[:size], true, nil
}

// broken names git's complaint, which came before the end of its output.
func (b *batch) broken(err error) error {
	_ = b.close()
	return fmt.Errorf("git cat-file: %w: %s", err, strings.TrimSpace(b.stderr.String()))
}

func (b *batch) close() error {
	_ = b.stdin.Close()
	return b.cmd.Wait()
}
