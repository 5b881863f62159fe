package beads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"sync"

	"github.com/git-worklease/git-worklease/providers"
)

// The bounds of what is read.
const (
	maxItems  = 100_000
	maxLine   = 1 << 20
	maxExport = 256 << 20
)

// entry is where an issue was read, and the issue: nil where there was none, or an error.
type entry struct {
	where  string
	line   int
	data   []byte
	record *record
	err    error
}

// listFile reads the export.
func (p *Provider) listFile(ctx context.Context) ([]entry, *troubles, error) {
	data, err := readExport(p.dir)
	if err != nil {
		return nil, nil, err
	}
	entries, cut := lines(data)
	return decodeAll(ctx, entries, cut)
}

func readExport(dir string) ([]byte, error) {
	f, size, err := openFile(dir, exportFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s, and bd, which has the issues, is not used: %w", exportFile, providers.ErrUnavailable)
	}
	if err != nil {
		return nil, &providers.BrokenError{Where: exportFile, Err: err}
	}
	defer func() { _ = f.Close() }()
	var data bytes.Buffer
	data.Grow(int(min(size, maxExport)) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(f, maxExport+1)); err != nil {
		return nil, &providers.BrokenError{Where: exportFile, Err: err}
	}
	if data.Len() > maxExport {
		return nil, &providers.BrokenError{Where: exportFile, Err: fmt.Errorf("it has more than %d bytes", maxExport)}
	}
	return data.Bytes(), nil
}

// lines are those of the export that have anything. cut is the number of the first that is not among them, because there are too many; or 0.
func lines(data []byte) (entries []entry, cut int) {
	n := 0
	for line := range bytes.Lines(withoutMark(data)) {
		n++
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
			continue
		case len(entries) == maxItems:
			return entries, n
		case len(line) > maxLine:
			entries = append(entries, entry{where: exportFile, line: n, err: fmt.Errorf("it has more than %d bytes", maxLine)})
		default:
			entries = append(entries, entry{where: exportFile, line: n, data: line})
		}
	}
	return entries, 0
}

// decodeAll decodes the entries side by side, and drops those that are no issue, or broken. cut is where a listing was cut off.
func decodeAll(ctx context.Context, entries []entry, cut int) ([]entry, *troubles, error) {
	const share = 256
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for begin := 0; begin < len(entries) && ctx.Err() == nil; begin += share {
		part := entries[begin:min(begin+share, len(entries))]
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			for i := range part {
				if e := &part[i]; e.err == nil {
					e.record, e.err = decode(e.data)
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	t := &troubles{}
	kept := entries[:0]
	for _, e := range entries {
		switch {
		case e.err != nil:
			t.add(e.where, e.line, e.err)
		case e.record != nil:
			kept = append(kept, e)
		}
	}
	if cut > 0 {
		t.add(entries[0].where, cut, fmt.Errorf("there are more than %d issues; the rest is left out", maxItems))
	}
	return kept, t, nil
}
