package refstore

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"sync"
)

// Cache is a file of records that were checked once, shared by the processes of a clone. It spares reading a record from the server
// again, and verifying its signature; it never says what a ref holds. Whatever is wrong with the file costs a read
// of the server and nothing else, so no method fails. A nil Cache keeps nothing.
//
// The file is a sequence of entries: a mark, the lengths of ID and content, both, in one write each. A torn entry ends what is read,
// and the next writer replaces the file.
type Cache struct {
	path string
	mu   sync.Mutex
	// data is the file as it was read; entries are slices of it.
	entries map[OID][]byte
	size    int
	loaded  bool
	torn    bool
	used    map[OID]bool
}

// OpenCache uses the file at path. Neither it nor its folder, which is made readable for the user alone, need exist. Nothing is read until
// it is needed.
func OpenCache(path string) *Cache { return &Cache{path: path} }

const (
	cacheMark   = 0xC7
	cacheHeader = 1 + 1 + 4
	// cacheSlack is how large the file may grow, in bytes, before records that nobody lists any more are dropped.
	cacheSlack = 8 << 20
	// cacheLimit bounds the file that is read at all.
	cacheLimit = 256 << 20
)

// get finds the commits of tips; those that are absent or damaged are left out.
func (c *Cache) get(tips map[string]OID) map[OID]verdict {
	found := make(map[OID]verdict, len(tips))
	if c == nil || len(tips) == 0 {
		return found
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	for _, oid := range tips {
		content, ok := c.entries[oid]
		if !ok {
			continue
		}
		commit, err := DecodeCommit(formatOf(oid), oid, content)
		if err != nil {
			delete(c.entries, oid)
			continue
		}
		c.used[oid] = true
		found[oid] = verdict{commit: commit}
	}
	return found
}

// put adds objects that were checked.
func (c *Cache) put(objects []Object) {
	if c == nil || len(objects) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var b bytes.Buffer
	for _, o := range objects {
		appendEntry(&b, o)
		if c.loaded {
			c.entries[o.OID] = o.Content
			c.used[o.OID] = true
		}
	}
	c.size += b.Len()
	if c.loaded && c.torn {
		c.rewrite(maps.Keys(c.entries))
		return
	}
	c.append(b.Bytes())
}

// compact drops the records that this process did not use, where that pays. It is for one that has listed all that there is.
func (c *Cache) compact() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded && c.size > cacheSlack && c.usedBytes() < c.size/2 {
		c.rewrite(maps.Keys(c.used))
	}
}

func (c *Cache) usedBytes() int {
	n := 0
	for oid := range c.used {
		n += cacheHeader + len(oid)/2 + len(c.entries[oid])
	}
	return n
}

func (c *Cache) append(entries []byte) {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return
	}
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(entries)
	_ = f.Close()
}

// rewrite replaces the file by the records of the given IDs. What another process appends meanwhile may be dropped.
func (c *Cache) rewrite(ids iter.Seq[OID]) {
	var b bytes.Buffer
	for oid := range ids {
		appendEntry(&b, Object{OID: oid, Content: c.entries[oid]})
	}
	f, err := os.CreateTemp(filepath.Dir(c.path), ".cache-*")
	if err != nil {
		return
	}
	_, err = f.Write(b.Bytes())
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), c.path) != nil {
		_ = os.Remove(f.Name())
		return
	}
	c.size, c.torn = b.Len(), false
}

func (c *Cache) load() {
	if c.loaded {
		return
	}
	c.loaded, c.entries, c.used = true, map[OID][]byte{}, map[OID]bool{}
	info, err := os.Lstat(c.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > cacheLimit {
		c.torn = err == nil
		return
	}
	data, err := os.ReadFile(c.path)
	if err != nil {
		return
	}
	c.size = len(data)
	for len(data) > 0 {
		object, rest, ok := readEntry(data)
		if !ok {
			c.torn = true
			return
		}
		c.entries[object.OID] = object.Content
		data = rest
	}
}

func appendEntry(b *bytes.Buffer, o Object) {
	id, err := hex.DecodeString(string(o.OID))
	if err != nil || len(o.Content) > MaxCommit {
		return
	}
	b.WriteByte(cacheMark)
	b.WriteByte(byte(len(id)))
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(o.Content)))) //nolint:gosec // bounded above
	b.Write(id)
	b.Write(o.Content)
}

// readEntry cuts the first entry off data. Its content is checked against its ID when it is used.
func readEntry(data []byte) (o Object, rest []byte, ok bool) {
	if len(data) < cacheHeader || data[0] != cacheMark {
		return o, nil, false
	}
	id := int(data[1])
	content := binary.BigEndian.Uint32(data[2:cacheHeader])
	if id != SHA1.hexLen()/2 && id != SHA256.hexLen()/2 || content > MaxCommit {
		return o, nil, false
	}
	end := cacheHeader + id + int(content)
	if len(data) < end {
		return o, nil, false
	}
	o.OID = OID(hex.EncodeToString(data[cacheHeader : cacheHeader+id]))
	o.Content = data[cacheHeader+id : end : end]
	return o, data[end:], true
}

func formatOf(oid OID) Format {
	if len(oid) == SHA256.hexLen() {
		return SHA256
	}
	return SHA1
}
