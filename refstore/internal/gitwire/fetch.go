package gitwire

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// WriteFetch asks, in version 2, for commits with up to depth-1 ancestors each; 0 asks for all.
func WriteFetch(w io.Writer, wants []refstore.OID, depth int) error {
	var q request
	q.line("command=fetch")
	q.WriteString(delimPkt)
	q.line("ofs-delta")
	q.line("no-progress")
	for _, oid := range wants {
		q.line("want %s\n", oid)
	}
	if depth > 0 {
		q.line("deepen %d\n", depth)
	}
	q.line("done\n")
	q.WriteString(flushPkt)
	return q.send(w)
}

// ReadFetch reads the answer to [WriteFetch]: the commits in it, without those over [refstore.MaxCommit]. A server that does not, or
// no longer, have one of the wanted ones sends none at all, and that is no error.
func ReadFetch(r *Reader) ([]refstore.Object, error) {
	objects, err := readFetch(r)
	return objects, unlessMoved(err)
}

func readFetch(r *Reader) ([]refstore.Object, error) {
	for {
		kind, section, err := r.line()
		switch {
		case err != nil:
			return nil, fmt.Errorf("fetch: %w", err)
		case kind == Data && section == "packfile":
			return readBandedPack(r)
		case kind != Data:
			return nil, malformed("an answer without a pack")
		}
		if err := skipSection(r); err != nil {
			return nil, fmt.Errorf("fetch: %s: %w", section, err)
		}
	}
}

func skipSection(r *Reader) error {
	for {
		kind, _, err := r.line()
		switch {
		case err != nil:
			return err
		case kind == Delim:
			return nil
		case kind != Data:
			return malformed("an answer without a pack")
		}
	}
}

// fetchCaps are the capabilities wanted of an upload-pack of version 0.
var fetchCaps = [...]string{"side-band-64k", "ofs-delta", "no-progress", "shallow"}

// WriteFetchV0 is [WriteFetch] for a server that answered with the advertisement a of version 0. Such a server may refuse
// commits that are no tips.
func WriteFetchV0(w io.Writer, a *Advert, wants []refstore.OID, depth int) error {
	var caps strings.Builder
	for _, c := range fetchCaps {
		if a.has(c) {
			caps.WriteString(" " + c)
		}
	}
	var q request
	for i, oid := range wants {
		if i > 0 {
			caps.Reset()
		}
		q.line("want %s%s\n", oid, caps.String())
	}
	if depth > 0 && a.has("shallow") {
		q.line("deepen %d", depth)
	}
	q.WriteString(flushPkt)
	q.line("done\n")
	return q.send(w)
}

// ReadFetchV0 reads the answer to [WriteFetchV0], like [ReadFetch].
func ReadFetchV0(r *Reader) ([]refstore.Object, error) {
	objects, err := readFetchV0(r)
	return objects, unlessMoved(err)
}

func readFetchV0(r *Reader) ([]refstore.Object, error) {
	for {
		if r.banded() {
			return readBandedPack(r)
		}
		if string(r.peek(4)) == "PACK" {
			return readPack(io.LimitReader(r.r, r.left), packLimits)
		}
		kind, text, err := r.line()
		if err != nil {
			return nil, fmt.Errorf("fetch: %w", err)
		}
		if kind != Flush && !isPreamble(text) {
			return nil, malformed("%.80q before the pack", text)
		}
	}
}

// unlessMoved drops the error of a server that lacks a wanted object, or in version 0 has no ref on it: a ref has moved
// since it was listed. The words are the same in all of git's languages.
func unlessMoved(err error) error {
	var remote *RemoteError
	if errors.As(err, &remote) && strings.Contains(remote.Words, "not our ref") {
		return nil
	}
	return err
}

func isPreamble(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	switch word {
	case "shallow", "unshallow", "NAK", "ACK":
		return true
	}
	return false
}

func readBandedPack(r *Reader) ([]refstore.Object, error) {
	d := &demux{r: r}
	objects, err := readPack(d, packLimits)
	if err != nil {
		return nil, err
	}
	if err := d.drain(); err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return objects, nil
}
