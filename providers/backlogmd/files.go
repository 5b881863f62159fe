package backlogmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/git-worklease/git-worklease/providers"
)

const (
	// maxFile is the most bytes of a file that are read, maxFiles the most files of a project.
	maxFile  = 1 << 20
	maxFiles = 100_000
	// step is how many files are read between two reports.
	step = 100
)

var (
	errFileSize = errors.New("it is longer than 1 MiB")
	errFiles    = errors.New("there are more than 100000 files of tasks, and the rest was not read")
	errNotFile  = errors.New("it is no regular file")
)

// catalogue is what some folders have.
type catalogue struct {
	// tasks are those whose IDs no other file has.
	tasks    []*task
	troubles []error
	// broken is what stands in the way of reading an item, by its ID, as far as that is known.
	broken map[string]error
}

// entry is a file that may be a task's, and then what came of reading it.
type entry struct {
	folder, name string
	dir          *os.Root
	link         bool
	task         *task
	err          error
}

// load reads the files of some folders. What can't be read is among the troubles; it returns an error where there is nothing at all.
func (p *Provider) load(ctx context.Context, report func(read, of int), folders ...string) (*catalogue, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	top, err := os.OpenRoot(p.opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", providers.ErrUnavailable, err)
	}
	defer top.Close() //nolint:errcheck // nothing was written
	if _, err := top.Stat(filepath.FromSlash(p.place.dir)); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.place.dir, errNoProject, err)
	}
	c := &catalogue{broken: map[string]error{}}
	var entries []entry
	for _, folder := range folders {
		dir, err := top.OpenRoot(filepath.FromSlash(path.Join(p.place.dir, folder)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			defer dir.Close() //nolint:errcheck // nothing was written
			entries, err = p.entriesOf(entries, dir, folder)
		}
		if err != nil {
			c.troubles = append(c.troubles, &providers.BrokenError{Where: path.Join(p.place.dir, folder), Err: err})
		}
	}
	if err := p.readAll(ctx, top, entries, report); err != nil {
		return nil, err
	}
	p.gather(c, entries)
	return c, nil
}

// entriesOf adds the files of a folder that may be tasks', sorted by name.
func (p *Provider) entriesOf(entries []entry, dir *os.Root, folder string) ([]entry, error) {
	prefix := p.config.prefix
	if folder == draftsFolder || folder == archiveDraftsFolder {
		prefix = draftPrefix
	}
	f, err := dir.Open(".")
	if err != nil {
		return entries, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	first := len(entries)
	for {
		found, err := f.ReadDir(1000)
		for _, e := range found {
			if name := e.Name(); strings.HasPrefix(name, prefix+"-") && strings.HasSuffix(name, ".md") && !e.IsDir() {
				entries = append(entries, entry{folder: folder, name: name, dir: dir, link: !e.Type().IsRegular()})
			}
		}
		if errors.Is(err, io.EOF) {
			err = nil
			found = nil
		}
		if len(entries) > maxFiles {
			entries, err, found = entries[:maxFiles], errFiles, nil
		}
		if err != nil || len(found) == 0 {
			slices.SortFunc(entries[first:], func(a, b entry) int { return strings.Compare(a.name, b.name) })
			return entries, err
		}
	}
}

// readAll reads the files, several at once.
func (p *Provider) readAll(ctx context.Context, top *os.Root, entries []entry, report func(read, of int)) error {
	var next, done atomic.Int64
	var group sync.WaitGroup
	var reporting sync.Mutex
	tell := func() {
		reporting.Lock()
		defer reporting.Unlock()
		report(int(done.Load()), len(entries))
	}
	for range min(2*runtime.GOMAXPROCS(0), 16, len(entries)) {
		group.Go(func() {
			buffer := make([]byte, 16<<10)
			for i := next.Add(1) - 1; i < int64(len(entries)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				buffer = p.readEntry(top, &entries[i], buffer)
				if done.Add(1)%step == 0 && report != nil {
					tell()
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if report != nil {
		tell()
	}
	return nil
}

// readEntry reads one file into buffer, and returns that, which may have grown.
func (p *Provider) readEntry(top *os.Root, e *entry, buffer []byte) []byte {
	root, name, into := e.dir, e.name, buffer
	if e.link { // it may lead elsewhere in the work tree, and to what is no file
		root, name, into = top, path.Join(p.place.dir, e.folder, e.name), nil
	}
	data, err := readFile(root, name, into)
	line := 0
	if err == nil {
		e.task, line, err = p.newTask(e.folder, e.name, data)
	}
	if err != nil {
		e.task = nil
		e.err = &providers.BrokenError{Where: path.Join(p.place.dir, e.folder, e.name), Line: line, Err: plainPath(err)}
	}
	if cap(data) > cap(buffer) {
		buffer = data[:cap(data)]
	}
	return buffer
}

// plainPath is an error of the system without the path, which is named already.
func plainPath(err error) error {
	var located *fs.PathError
	if errors.As(err, &located) {
		return located.Err
	}
	return err
}

// readFile reads a regular file into buffer, or a larger one.
func readFile(root *os.Root, name string, buffer []byte) ([]byte, error) {
	name = filepath.FromSlash(name)
	if buffer == nil { // it is not known yet what it is; to open a pipe would wait
		info, err := root.Stat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = errNotFile
		}
		if err != nil {
			return nil, err
		}
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	buffer = buffer[:cap(buffer)]
	for n := 0; ; {
		if n == len(buffer) {
			buffer = append(buffer, make([]byte, max(n, 4<<10))...)
		}
		more, err := f.Read(buffer[n:])
		n += more
		switch {
		case n > maxFile:
			return nil, errFileSize
		case errors.Is(err, io.EOF):
			return buffer[:n], nil
		case err != nil:
			return nil, err
		}
	}
}

// gather sorts out what was read: what is broken, what is there twice, and how far the needs of each have come.
func (p *Provider) gather(c *catalogue, entries []entry) {
	byID := make(map[string][]*task, len(entries))
	for i := range entries {
		switch e := &entries[i]; {
		case e.err != nil:
			c.troubles = append(c.troubles, e.err)
			if id := idOfName(e.name, p.config.prefix); id != "" && c.broken[id] == nil {
				c.broken[id] = e.err
			}
		case e.task != nil:
			byID[e.task.id] = append(byID[e.task.id], e.task)
		}
	}
	for i := range entries {
		t := entries[i].task
		if t == nil {
			continue
		}
		switch same := byID[t.id]; {
		case len(same) == 1:
			c.tasks = append(c.tasks, t)
		case same[0] == t:
			err := twice(same)
			c.troubles = append(c.troubles, err)
			c.broken[t.id] = err
		}
	}
	for _, t := range c.tasks {
		for i := range t.item.Needs {
			need := &t.item.Needs[i]
			if same := byID[strings.TrimPrefix(string(need.Key), Name+":")]; len(same) == 1 {
				need.State = same[0].item.State
			}
		}
	}
}

// twice names the files that have one ID.
func twice(same []*task) error {
	var others []string
	for _, t := range same[1:] {
		others = append(others, t.file)
	}
	return &providers.BrokenError{Where: same[0].file, Line: 1, Err: fmt.Errorf("its ID, %s, is also that of %s", same[0].item.ID, strings.Join(others, ", "))}
}
