package refstore

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// MaxCommit bounds, in bytes, a commit that is read: a record and its headers.
const MaxCommit = 160 << 10

// ErrNotRecord is returned for an object that is not a commit with the empty tree and at most one parent.
var ErrNotRecord = errors.New("not a record")

// ErrUnreadable is returned for a ref that is there and that the server can't read, each time that it was asked. It is an [ErrNotRecord].
var ErrUnreadable = fmt.Errorf("%w: the server can't read the ref", ErrNotRecord)

// Commit is a record as git stores it.
type Commit struct {
	// OID names the commit.
	OID OID
	// Parent is the record that this one replaced; zero in the first record of a ref.
	Parent OID
	// When is the committer's date, in whole seconds of UTC: the writer's clock, never to be trusted.
	When time.Time
	// Message is the record, byte for byte.
	Message []byte

	// content is the whole object, where it was read.
	content []byte
}

// Object is the commit as it is stored.
func (c *Commit) Object(f Format) Object {
	content := c.content
	if content == nil {
		content = EncodeCommit(f, c.Parent, c.When, c.Message)
	}
	return Object{OID: c.OID, Content: content}
}

// neutral is the author and committer of every record, so that no statistics of contributions move. The address
// is there because receive.fsckObjects refuses an empty one.
const neutral = "git-worklease <worklease@localhost>"

// EncodeCommit is the content of the commit object for a record that replaces parent.
func EncodeCommit(f Format, parent OID, when time.Time, message []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", f.EmptyTree())
	if !parent.IsZero() {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n", neutral, when.Unix(), neutral, when.Unix())
	b.Write(message)
	return b.Bytes()
}

// DecodeCommit reads the content of a commit object and checks that it hashes to oid. It returns [ErrNotRecord], wrapped,
// for a commit of any other shape than [EncodeCommit] makes; authors, unknown headers and signatures are passed over.
func DecodeCommit(f Format, oid OID, content []byte) (Commit, error) {
	if len(content) > MaxCommit {
		return Commit{}, fmt.Errorf("%w: %d bytes", ErrNotRecord, len(content))
	}
	if f.Hash("commit", content) != oid {
		return Commit{}, fmt.Errorf("%w: content is not that of %s", ErrNotRecord, oid.Short())
	}
	headers, message, ok := bytes.Cut(content, []byte("\n\n"))
	if !ok {
		return Commit{}, fmt.Errorf("%w: no message", ErrNotRecord)
	}
	c := Commit{OID: oid, Message: message, content: content}
	var tree OID
	for i, line := range bytes.Split(headers, []byte("\n")) {
		name, value, _ := bytes.Cut(line, []byte(" "))
		var err error
		switch string(name) {
		case "tree":
			tree = OID(value)
		case "parent":
			if !c.Parent.IsZero() {
				return Commit{}, fmt.Errorf("%w: several parents", ErrNotRecord)
			}
			c.Parent, err = ParseOID(string(value))
		case "committer":
			c.When, err = identTime(value)
		}
		if err != nil {
			return Commit{}, fmt.Errorf("%w: header %d: %w", ErrNotRecord, i+1, err)
		}
	}
	switch {
	case tree != f.EmptyTree():
		return Commit{}, fmt.Errorf("%w: tree %s is not empty", ErrNotRecord, tree.Short())
	case c.When.IsZero():
		return Commit{}, fmt.Errorf("%w: no committer", ErrNotRecord)
	}
	return c, nil
}

// lastSecond is the end of the last year that all formats of dates can write: 9999.
const lastSecond = 253402300799

// identTime reads the date at the end of an author or committer line.
func identTime(ident []byte) (time.Time, error) {
	fields := bytes.Fields(ident)
	if len(fields) < 2 {
		return time.Time{}, errors.New("no date")
	}
	secs, err := strconv.ParseInt(string(fields[len(fields)-2]), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("date: %w", err)
	}
	if secs < 0 || secs > lastSecond {
		return time.Time{}, fmt.Errorf("date of %d s", secs)
	}
	return time.Unix(secs, 0).UTC(), nil
}
