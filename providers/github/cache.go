package github

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// maxFiles and maxBytes bound the folder; three quarters of either are left when the oldest files are removed.
	maxFiles, maxBytes = 2048, 64 << 20
	// maxETag bounds an ETag and a Link header.
	maxETag = 4096
)

// cache is a folder of answers, each in a file of its own. It is a help and nothing more: what can't be read or written is passed over.
type cache struct {
	dir string
	now func() time.Time
	// saved says that files were added.
	saved atomic.Bool
}

// entry is an answer that was kept.
type entry struct {
	ETag string `json:"etag"`
	Link string `json:"link,omitempty"`
	body []byte
	// read is when the server last vouched for it.
	read time.Time
}

// name is the file of what a user gets for a URL. It tells nothing of the token.
func (c *cache) name(base, token, url string) string {
	user := sha256.Sum256([]byte("worklease\x00" + token))
	sum := sha256.Sum256([]byte(base + "\x00" + string(user[:]) + "\x00" + url))
	return hex.EncodeToString(sum[:16])
}

// answer is an entry as an answer to req. The headers are those of the answer that vouched for it.
func (e *entry) answer(req *http.Request, header http.Header) *http.Response {
	header = header.Clone()
	header.Set(headerCached, "1")
	header.Set("Link", e.Link)
	if e.Link == "" {
		header.Del("Link")
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(e.body)), ContentLength: int64(len(e.body)), Request: req,
	}
}

// load is the entry of a name; nil where there is none that is whole.
func (c *cache) load(name string) *entry {
	data, read := c.read(name)
	if data == nil {
		return nil
	}
	e, err := parseEntry(data)
	if err != nil {
		return nil
	}
	e.read = read
	return e
}

// read reads a file of the folder, and when it was last vouched for; nil where there is none.
func (c *cache) read(name string) ([]byte, time.Time) {
	if c.dir == "" {
		return nil, time.Time{}
	}
	path := filepath.Join(c.dir, name)
	info, err := os.Lstat(path) //nolint:gosec // the folder is the caller's, the name a sum
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxAnswer {
		return nil, time.Time{}
	}
	data, err := os.ReadFile(path) //nolint:gosec // likewise
	if err != nil {
		return nil, time.Time{}
	}
	return data, info.ModTime()
}

// errEntry is returned for a file that is no whole entry.
var errEntry = errors.New("no whole entry")

// parseEntry reads what formatEntry has written: the sum of the rest, a line of JSON, and the body, compressed.
func parseEntry(data []byte) (*entry, error) {
	sum, rest, found := bytes.Cut(data, []byte("\n"))
	want := sha256.Sum256(rest)
	if !found || string(sum) != hex.EncodeToString(want[:]) {
		return nil, errEntry
	}
	line, packed, found := bytes.Cut(rest, []byte("\n"))
	e := &entry{}
	if !found || json.Unmarshal(line, e) != nil || e.ETag == "" || len(e.ETag) > maxETag || len(e.Link) > maxETag {
		return nil, errEntry
	}
	if strings.ContainsFunc(e.ETag+e.Link, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		return nil, errEntry
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errEntry
	}
	e.body, err = io.ReadAll(io.LimitReader(z, maxAnswer+1))
	if err != nil || len(e.body) > maxAnswer {
		return nil, errEntry
	}
	return e, nil
}

func formatEntry(e *entry) ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	var rest bytes.Buffer
	rest.Write(line)
	rest.WriteByte('\n')
	z, err := gzip.NewWriterLevel(&rest, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(e.body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(rest.Bytes())
	return append([]byte(hex.EncodeToString(sum[:])+"\n"), rest.Bytes()...), nil
}

// save keeps an answer that has an ETag. Its body stays readable.
func (c *cache) save(name string, resp *http.Response) {
	e := &entry{ETag: resp.Header.Get("ETag"), Link: strings.Join(resp.Header.Values("Link"), ", ")}
	if c.dir == "" || e.ETag == "" || len(e.ETag) > maxETag || len(e.Link) > maxETag {
		return
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || !json.Valid(body) {
		return
	}
	e.body = body
	if data, err := formatEntry(e); err == nil {
		c.write(name, data)
	}
}

// write puts a file into the folder, whole or not at all.
func (c *cache) write(name string, data []byte) {
	if os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(c.dir, ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(c.dir, name)) //nolint:gosec // likewise
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return
	}
	c.touch(name)
	c.saved.Store(true)
}

// touch notes that the server has just vouched for an entry.
func (c *cache) touch(name string) {
	now := c.now()
	_ = os.Chtimes(filepath.Join(c.dir, name), now, now)
}

// loadLimit is a time that saveLimit has kept; zero where there is none.
func (c *cache) loadLimit(name string) time.Time {
	data, _ := c.read(name)
	seconds, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

func (c *cache) saveLimit(name string, until time.Time) {
	if c.dir != "" {
		c.write(name, strconv.AppendInt(nil, until.Unix(), 10))
	}
}

// prune removes the oldest files of a folder that has grown beyond its bounds.
func (c *cache) prune() {
	if c.dir == "" || !c.saved.Swap(false) {
		return
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	total := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
			total += info.Size()
		}
	}
	if len(files) <= maxFiles && total <= maxBytes {
		return
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for left := len(files); len(files) > 0 && (left > maxFiles*3/4 || total > maxBytes*3/4); left-- {
		_ = os.Remove(filepath.Join(c.dir, files[0].Name()))
		total -= files[0].Size()
		files = files[1:]
	}
}
