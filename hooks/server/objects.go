package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// maxFile bounds, in bytes, a file that is read of a commit.
const maxFile = 1 << 20

// object is what one name stands for; a zero ID is nothing.
type object struct {
	id   refstore.OID
	kind string
	// content is nil where it is too large to be anything of ours.
	content []byte
}

// objects reads through one `git cat-file --batch`, which sees what a push has brought and what is not yet part of the repository.
type objects struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	format refstore.Format
}

func openObjects(ctx context.Context, g *gitexec.Git, format refstore.Format) (*objects, error) {
	o := &objects{cmd: g.Command(ctx, "--no-replace-objects", "cat-file", "--batch", "--follow-symlinks"), format: format}
	var err error
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.out = bufio.NewReader(out)
	if err := o.cmd.Start(); err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	return o, nil
}

// close ends the process.
func (o *objects) close() error {
	err := o.in.Close()
	return errors.Join(err, o.cmd.Wait())
}

// errOutput is an answer of git's that can't be understood.
var errOutput = errors.New("git cat-file: unexpected output")

// read is what a name stands for: an ID, HEAD, a file of a commit. At most limit bytes of it are kept.
func (o *objects) read(name string, limit int64) (object, error) {
	if _, err := io.WriteString(o.in, name+"\n"); err != nil {
		return object{}, fmt.Errorf("git cat-file: %w", err)
	}
	head, err := o.out.ReadString('\n')
	if err != nil {
		return object{}, fmt.Errorf("git cat-file: %w", err)
	}
	head = strings.TrimSuffix(head, "\n")
	if strings.HasSuffix(head, " missing") {
		return object{}, nil
	}
	fields := strings.Fields(head)
	size, sizeErr := strconv.ParseInt(fields[len(fields)-1], 10, 64)
	if sizeErr != nil || size < 0 {
		return object{}, fmt.Errorf("%w: %q", errOutput, head)
	}
	content, err := o.content(size, limit)
	switch {
	case err != nil:
		return object{}, err
	case len(fields) == 2: // a link that leads nowhere, or out of the tree
		return object{}, fmt.Errorf("%w: %s is a link that can't be followed", errOutput, name)
	case len(fields) != 3:
		return object{}, fmt.Errorf("%w: %q", errOutput, head)
	}
	return object{id: refstore.OID(fields[0]), kind: fields[1], content: content}, nil
}

// content reads the bytes that follow, and the line break after them.
func (o *objects) content(size, limit int64) (content []byte, err error) {
	if size <= limit {
		content = make([]byte, size)
		_, err = io.ReadFull(o.out, content)
	} else {
		_, err = io.CopyN(io.Discard, o.out, size)
	}
	if err == nil {
		_, err = o.out.Discard(1)
	}
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	return content, nil
}

// record reads a commit by its ID or a name, as what stands at a ref; its Err says why it is none.
func (o *objects) record(ref, name string) (refstore.Ref, error) {
	obj, err := o.read(name, refstore.MaxCommit)
	if err != nil || obj.id.IsZero() {
		return refstore.Ref{Name: ref}, err
	}
	r := refstore.Ref{Name: ref, Commit: refstore.Commit{OID: obj.id}}
	if obj.kind != "commit" {
		r.Err = fmt.Errorf("%w: a %s", refstore.ErrNotRecord, obj.kind)
		return r, nil
	}
	c, err := refstore.DecodeCommit(o.format, obj.id, obj.content)
	if r.Err = err; err == nil {
		r.Commit = c
	}
	return r, nil
}
