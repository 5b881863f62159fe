package gitwire

import (
	"io"
)

// maxWords bounds, in bytes, what is kept of a server's words for people.
const maxWords = 64 << 10

// The bands that a server talks on.
const (
	bandData  = 1
	bandWords = 2
	bandFatal = 3
)

// demux reads what comes on the first band, up to the flush packet, and keeps what comes on the second.
type demux struct {
	r     *Reader
	rest  []byte
	words []byte
	err   error
}

// banded says whether the next packet is one of a side-band.
func (r *Reader) banded() bool {
	head := r.peek(5)
	return len(head) == 5 && head[4] >= bandData && head[4] <= bandFatal
}

func (d *demux) Read(p []byte) (int, error) {
	for len(d.rest) == 0 && d.err == nil {
		d.rest, d.err = d.packet()
	}
	if len(d.rest) == 0 {
		return 0, d.err
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// packet reads one packet; what it carries of the first band is returned.
func (d *demux) packet() ([]byte, error) {
	kind, payload, err := d.r.Next()
	switch {
	case err != nil:
		return nil, err
	case kind == Flush || kind == ResponseEnd:
		return nil, io.EOF
	case kind != Data:
		return nil, malformed("a section in a side-band")
	case len(payload) == 0: // git sends none, and passes one over
		return nil, nil
	}
	switch band, text := payload[0], payload[1:]; band {
	case bandData:
		return text, nil
	case bandWords:
		d.words = append(d.words, text[:min(len(text), maxWords-len(d.words))]...)
		return nil, nil
	case bandFatal:
		return nil, &RemoteError{Words: string(d.words) + string(text)}
	default:
		return nil, malformed("side-band %d", band)
	}
}

// drain reads to the flush packet.
func (d *demux) drain() error {
	_, err := io.Copy(io.Discard, d)
	return err
}
