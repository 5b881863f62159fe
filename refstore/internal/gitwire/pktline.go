package gitwire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxAnswer bounds, in bytes, what a [Reader] reads.
const MaxAnswer = 512 << 20

// maxPayload is the most that one packet carries.
const maxPayload = 65516

// Kind tells the sorts of packets apart.
type Kind byte

// The sorts of packets.
const (
	Data        Kind = iota // a payload
	Flush                   // 0000, the end of a message
	Delim                   // 0001, the end of a section
	ResponseEnd             // 0002, the end of an answer without a connection
)

// Reader reads packets. It buffers, so one Reader must read all that comes over a connection.
type Reader struct {
	r    *bufio.Reader
	left int64
	buf  []byte
}

// NewReader reads packets from r, MaxAnswer bytes at most.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 16<<10), left: MaxAnswer}
}

// Next reads one packet. The payload is valid until the next call. The end of the input is io.ErrUnexpectedEOF: every
// answer ends with a packet.
func (r *Reader) Next() (Kind, []byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return Data, nil, cut(err)
	}
	size, err := strconv.ParseUint(string(head[:]), 16, 16)
	if err != nil {
		return Data, nil, malformed("%q where a length should be", head[:])
	}
	if size < 3 {
		return Flush + Kind(size), nil, r.spend(4)
	}
	if size == 3 || size > maxPayload+4 {
		return Data, nil, malformed("a packet of %d bytes", size)
	}
	if err := r.spend(int64(size)); err != nil {
		return Data, nil, err
	}
	if cap(r.buf) < int(size) {
		r.buf = make([]byte, max(int(size), 1024))
	}
	payload := r.buf[:size-4]
	if _, err := io.ReadFull(r.r, payload); err != nil {
		return Data, nil, cut(err)
	}
	return Data, payload, nil
}

func (r *Reader) spend(n int64) error {
	r.left -= n
	if r.left < 0 {
		return ErrTooLarge
	}
	return nil
}

// line reads one packet as a line of text, without its newline. A line with which the server gives up is a [*RemoteError].
func (r *Reader) line() (Kind, string, error) {
	kind, payload, err := r.Next()
	if err != nil {
		return kind, "", err
	}
	text := strings.TrimSuffix(string(payload), "\n")
	if words, ok := strings.CutPrefix(text, "ERR "); ok {
		return kind, "", &RemoteError{Words: words}
	}
	return kind, text, nil
}

// peek shows the next bytes, up to n, without reading them.
func (r *Reader) peek(n int) []byte {
	b, _ := r.r.Peek(n)
	return b
}

const (
	flushPkt = "0000"
	delimPkt = "0001"
)

// request collects the packets of a request, so that it is written at once.
type request struct {
	bytes.Buffer
	err error
}

func (q *request) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(text) > maxPayload {
		q.err = malformed("a line of %d bytes", len(text))
		return
	}
	_, _ = fmt.Fprintf(&q.Buffer, "%04x%s", len(text)+4, text)
}

func (q *request) send(w io.Writer) error {
	if q.err != nil {
		return q.err
	}
	_, err := w.Write(q.Bytes())
	return err
}

// WriteFlush writes a flush packet alone, which ends a conversation.
func WriteFlush(w io.Writer) error {
	_, err := io.WriteString(w, flushPkt)
	return err
}
