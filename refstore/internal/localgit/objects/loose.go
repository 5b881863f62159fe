package objects

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// writer makes the loose objects of one call. Its deflater is used for all of them, because a new one takes a megabyte.
type writer struct {
	Dir
	deflate *zlib.Writer
}

func (d Dir) writer() *writer {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is one
	return &writer{Dir: d, deflate: z}
}

// write makes a loose object, unless it is there. Unless it is fleeting it is on the disk when write returns: a ref must never
// name an object that a power cut erased.
func (w *writer) write(kind string, oid refstore.OID, content []byte) error {
	path := w.file(oid)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "tmp_obj_*")
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		f, err = os.CreateTemp(dir, "tmp_obj_*")
	}
	if err != nil {
		return err
	}
	if err := w.fill(f, kind, content); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return settle(f.Name(), path)
}

// settle gives a finished file its name. Where another process was faster the object is there, and the same.
func settle(tmp, path string) error {
	err := os.Rename(tmp, path)
	if err == nil {
		return nil
	}
	_ = os.Remove(tmp)
	if _, there := os.Lstat(path); there == nil {
		return nil
	}
	return err
}

// fill writes and closes f.
func (w *writer) fill(f *os.File, kind string, content []byte) error {
	var b bytes.Buffer
	w.deflate.Reset(&b)
	_, err := fmt.Fprintf(w.deflate, "%s %d\x00%s", kind, len(content), content)
	if err == nil {
		err = w.deflate.Close()
	}
	if err == nil {
		_, err = f.Write(b.Bytes())
	}
	if err == nil {
		err = f.Chmod(0o444)
	}
	if err == nil && !w.Fleeting {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// errNotCommit is told of an object that is no commit, or a larger one than any record's.
var errNotCommit = errors.New("not a commit that could be a record")

// readLoose reads a commit; fs.ErrNotExist where it is not loose.
func (d Dir) readLoose(oid refstore.OID) ([]byte, error) {
	f, err := os.Open(d.file(oid))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", oid.Short(), err)
	}
	defer z.Close() //nolint:errcheck // only read
	content, err := decode(bufio.NewReader(z))
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", oid.Short(), err)
	}
	return content, nil
}

// decode reads an inflated loose object.
func decode(r *bufio.Reader) ([]byte, error) {
	header, err := r.ReadSlice(0)
	if err != nil {
		return nil, err
	}
	kind, length, _ := strings.Cut(string(header[:len(header)-1]), " ")
	size, err := strconv.Atoi(length)
	if err != nil {
		return nil, err
	}
	if kind != "commit" || size < 0 || size > refstore.MaxCommit {
		return nil, errNotCommit
	}
	content := make([]byte, size)
	_, err = io.ReadFull(r, content)
	return content, err
}
