package gitwire

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// maxReport bounds, in bytes, an answer of receive-pack with all that hooks write.
const maxReport = 4 << 20

// ReadReport reads receive-pack's answer to [WritePush] of tx, in a side-band or not. A report is returned only if it is
// complete: it has a word on the pack and on every ref of tx, and its end was read. Otherwise the error is io.ErrUnexpectedEOF
// where it was cut or left a ref out, or another of this package's. Words that come after the report's end, from hooks that run
// then, are waited for, but their loss is no error.
func ReadReport(r *Reader, tx *refstore.Tx) (*refstore.Report, error) {
	r.left = min(r.left, maxReport)
	if !r.banded() {
		return readReport(r, tx)
	}
	d := &demux{r: r}
	report, err := readReport(NewReader(d), tx)
	if err != nil {
		return nil, withWords(err, d.words)
	}
	_ = d.drain() // the report is whole already
	report.Words = string(d.words)
	return report, nil
}

// withWords adds what the server said before it broke off; a RemoteError has it already.
func withWords(err error, words []byte) error {
	said := strings.TrimSpace(string(words))
	if said == "" || errors.Is(err, ErrRemote) {
		return fmt.Errorf("report: %w", err)
	}
	return fmt.Errorf("report: %w; the server said: %s", err, said)
}

func readReport(r *Reader, tx *refstore.Tx) (*refstore.Report, error) {
	kind, text, err := r.line()
	if err != nil {
		return nil, err
	}
	unpack, ok := strings.CutPrefix(text, "unpack ")
	if kind != Data || !ok {
		return nil, malformed("%.80q where a report should be", text)
	}
	done := make(map[string]bool, len(tx.Updates))
	report := &refstore.Report{Unpack: unpack, Refused: make(map[string]string)}
	for kind == Data {
		if kind, text, err = r.line(); err != nil {
			return nil, err
		}
		if kind == Data {
			err = refResult(report, done, text)
		}
		if err != nil {
			return nil, err
		}
	}
	if kind != Flush {
		return nil, malformed("a section in a report")
	}
	return complete(report, done, tx)
}

// complete checks that every ref of tx has its result, and forgets refs that are not of tx.
func complete(report *refstore.Report, done map[string]bool, tx *refstore.Tx) (*refstore.Report, error) {
	refused := make(map[string]string)
	for _, u := range tx.Updates {
		reason, ng := report.Refused[u.Ref]
		if ng {
			refused[u.Ref] = reason
		}
		if !ng && !done[u.Ref] {
			return nil, fmt.Errorf("no word on %s: %w", u.Ref, io.ErrUnexpectedEOF)
		}
	}
	report.Refused = refused
	return report, nil
}

// refResult takes a line "ok NAME" or "ng NAME REASON". Of a ref that has both the refusal counts.
func refResult(report *refstore.Report, done map[string]bool, text string) error {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "ok":
		done[rest] = true
	case "ng":
		name, reason, _ := strings.Cut(rest, " ")
		report.Refused[name] = reason
	case "option": // of report-status-v2
	default:
		return malformed("%.80q in a report", text)
	}
	return nil
}
