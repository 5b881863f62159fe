package backlogmd

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// The lock of a task is a folder, as the backlog program makes it, and whoever has it for longer than stale has died.
const (
	stale    = 10 * time.Second
	patience = 5 * time.Second
	pause    = 20 * time.Millisecond
)

var (
	errBusy    = fmt.Errorf("%w: another process is changing the task", providers.ErrUnavailable)
	errChanged = fmt.Errorf("%w: the file was changed just now", providers.ErrUnavailable)
	errLink    = errors.New("it is a link, and is not edited")
)

// write edits the file of a task, which is replaced as a whole.
func (p *Provider) write(ctx context.Context, t *task, c change) error {
	top, err := os.OpenRoot(p.opts.Dir)
	if err != nil {
		return fmt.Errorf("%w: %w", providers.ErrUnavailable, err)
	}
	defer top.Close() //nolint:errcheck // the file is closed by then
	unlock, err := p.lock(ctx, top, t)
	if err != nil {
		return err
	}
	defer unlock()
	file := filepath.FromSlash(t.file)
	info, err := top.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = errLink
	}
	if err != nil {
		return broken(t.file, plainPath(err))
	}
	data, err := readFile(top, t.file, nil)
	if err != nil {
		return broken(t.file, plainPath(err))
	}
	edited, err := edit(data, c, p.opts.Now().UTC().Format(timeForm))
	if err != nil {
		return broken(t.file, err)
	}
	err = replace(top, t.file, data, edited, info.Mode().Perm())
	if err != nil && !errors.Is(err, providers.ErrUnavailable) {
		return broken(t.file, err)
	}
	return err
}

// replace puts a file in the place of another that has the content before, in one step.
func replace(top *os.Root, file string, before, after []byte, mode fs.FileMode) error {
	next := filepath.FromSlash(path.Join(path.Dir(file), ".git-worklease-"+rand.Text()))
	f, err := top.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(after)
	err = errors.Join(err, top.Chmod(next, mode), f.Sync(), f.Close())
	if err == nil {
		var now []byte
		if now, err = readFile(top, file, nil); err == nil && !bytes.Equal(now, before) {
			err = errChanged
		}
	}
	if err == nil {
		err = top.Rename(next, filepath.FromSlash(file))
	}
	if err != nil {
		return errors.Join(err, top.Remove(next))
	}
	return nil
}

// lock takes a task's lock, the same that the backlog program takes to edit it.
func (p *Provider) lock(ctx context.Context, top *os.Root, t *task) (unlock func(), err error) {
	locks := filepath.FromSlash(path.Join(p.place.dir, ".locks"))
	if err := top.MkdirAll(locks, 0o777); err != nil { //nolint:gosec // as the backlog program makes it, for all who may edit the tasks
		return nil, broken(t.file, err)
	}
	lock := filepath.Join(locks, "task-"+strings.ToLower(t.item.ID))
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := top.Mkdir(lock, 0o777) //nolint:gosec // see above
		if err == nil {
			return func() { _ = top.Remove(lock) }, nil //nolint:errcheck // it is stale soon
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, broken(t.file, err)
		}
		if info, err := top.Stat(lock); err == nil && p.opts.Now().Sub(info.ModTime()) > stale {
			_ = top.Remove(lock) //nolint:errcheck // then it is still there
		}
		wait := time.NewTimer(pause)
		select {
		case <-waiting.Done():
			wait.Stop()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("%s: %w", t.file, errBusy)
		case <-wait.C:
		}
	}
}
