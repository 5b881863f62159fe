package cligit

import (
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// results is what `git push --porcelain` says of each ref.
type results struct {
	// done are refs that are as asked for.
	done map[string]bool
	// refused are refs that the server refused, with its reason.
	refused map[string]string
	// unsent are refs that git did not ask the server for, because something contradicted.
	unsent map[string]string
}

// parsePorcelain reads the lines "FLAG <tab> FROM:TO <tab> SUMMARY (REASON)". The words that it knows are documented in git-push(1); a ref with
// any other has no result.
func parsePorcelain(out string) *results {
	r := &results{done: map[string]bool{}, refused: map[string]string{}, unsent: map[string]string{}}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(fields) != 3 || len(fields[0]) != 1 {
			continue
		}
		ref := fields[1][strings.LastIndexByte(fields[1], ':')+1:]
		summary, reason, _ := strings.Cut(fields[2], " (")
		reason = strings.TrimSuffix(reason, ")")
		switch {
		case isDone(fields[0]):
			r.done[ref] = true
		case summary == "[remote rejected]":
			r.refused[ref] = reason
		case summary == "[rejected]":
			r.unsent[ref] = reason
		}
	}
	return r
}

// isDone tells the flags of success: fast-forward, forced, deleted, new, and equal already.
func isDone(flag string) bool {
	switch flag {
	case " ", "+", "-", "*", "=":
		return true
	}
	return false
}

// complete says whether the server has answered for every ref of tx.
func (r *results) complete(tx *refstore.Tx) bool {
	for i := range tx.Updates {
		_, refused := r.refused[tx.Updates[i].Ref]
		if !refused && !r.done[tx.Updates[i].Ref] {
			return false
		}
	}
	return true
}

// remoteWords are the lines that the server wrote.
func remoteWords(stderr string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		if words, ok := strings.CutPrefix(line, "remote: "); ok {
			b.WriteString(strings.TrimRight(words, " \r\n") + "\n")
		}
	}
	return b.String()
}
