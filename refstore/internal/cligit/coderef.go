package cligit

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// CodeRef is git's word on one ref of a push.
type CodeRef struct {
	// Flag is that of `git push --porcelain`.
	Flag string
	// From is the local ref, or whatever else was named; empty for a deletion. To is the ref at the remote.
	From, To string
	// Summary is git's: "old..new", "[new branch]", "[rejected]". Reason is why.
	Summary, Reason string
	// Old and New are the objects; zero where there is none, and Old also where it isn't known.
	Old, New refstore.OID

	// pinned says that it may replace nothing but Old.
	pinned bool
}

// Refused says whether git or the server will not have it.
func (r *CodeRef) Refused() bool { return r.Flag == "!" }

// follows is 1 where git says that it was refused because another was, otherwise 0.
func (r *CodeRef) follows() int { return strings.Count(r.Reason, "atomic") }

// Same says whether it was up to date.
func (r *CodeRef) Same() bool { return r.Flag == "=" }

// leadsTo says whether the summary, where it names objects, ends with oid.
func (r *CodeRef) leadsTo(oid refstore.OID) bool {
	if i := strings.LastIndex(r.Summary, ".."); i >= 0 && r.Summary[0] != '[' {
		return strings.HasPrefix(string(oid), r.Summary[i+2:])
	}
	return true
}

// String is the line that git shows of it.
func (r *CodeRef) String() string {
	to := short(r.To)
	if r.From != "" {
		to = short(r.From) + " -> " + to
	}
	line := fmt.Sprintf(" %s %-17s %s", r.Flag, r.Summary, to)
	if r.Reason != "" {
		line += " (" + r.Reason + ")"
	}
	return line
}

// short is a ref's name as git shows it.
func short(ref string) string {
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
		if s, ok := strings.CutPrefix(ref, prefix); ok {
			return s
		}
	}
	return ref
}

// parseCodeRef reads a line of `git push --porcelain`.
func parseCodeRef(line string) (CodeRef, bool) {
	fields := strings.SplitN(line, "\t", 3)
	if len(fields) != 3 || len(fields[0]) != 1 || !isDone(fields[0]) && fields[0] != "!" {
		return CodeRef{}, false
	}
	colon := strings.LastIndexByte(fields[1], ':')
	if colon < 0 {
		return CodeRef{}, false
	}
	r := CodeRef{Flag: fields[0], From: fields[1][:colon], To: fields[1][colon+1:]}
	summary, reason, _ := strings.Cut(fields[2], " (")
	r.Summary, r.Reason = summary, strings.TrimSuffix(reason, ")")
	return r, true
}

// told is what was planned with what came of it.
func (p *Plan) told(results []CodeRef) []CodeRef {
	var refs []CodeRef
	for _, planned := range p.Changes() {
		for _, r := range results {
			if r.To == planned.To {
				planned.Flag, planned.Summary, planned.Reason = r.Flag, r.Summary, r.Reason
			}
		}
		refs = append(refs, planned)
	}
	return refs
}

// Pin makes sure that a push replaces what it would have replaced when it was planned, and nothing that came since: for refs that are forced or deleted,
// or all.
func (p *Plan) Pin(all bool) {
	for i := range p.Refs {
		r := &p.Refs[i]
		r.pinned = r.Flag == "+" || r.Flag == "-" || all
	}
}

// porcelainSplit takes the standard output of git push apart. What hooks write there comes before git's report, which begins with a line "To URL". That
// follows whatever a hook has left without a line feed.
type porcelainSplit struct {
	// rest gets what is not the report.
	rest io.Writer
	// url is the end of the URL in the report.
	url string
	// line is the current line as far as it has come, its end if it is long, and shown is how much of it was passed on.
	line   []byte
	shown  int
	report bytes.Buffer
}

const (
	reportStart = "To "
	longestLine = 8 << 10
)

func (s *porcelainSplit) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n') + 1
		if end == 0 {
			end = len(b)
		}
		if err := s.piece(b[:end]); err != nil {
			return 0, err
		}
		b = b[end:]
	}
	return n, nil
}

// piece takes a piece of one line, up to its end at most.
func (s *porcelainSplit) piece(b []byte) error {
	s.line = append(s.line, b...)
	if b[len(b)-1] != '\n' {
		if s.report.Len() == 0 && !bytes.HasPrefix(s.line, []byte(reportStart)) && !strings.HasPrefix(reportStart, string(s.line)) {
			return s.pass()
		}
		return nil
	}
	defer func() { s.line, s.shown = nil, 0 }()
	switch start := bytes.LastIndex(s.line, []byte(reportStart)); {
	case start == 0, start > 0 && s.url != "" && strings.HasSuffix(string(s.line), s.url+"\n"):
		_, err := s.rest.Write(s.report.Bytes()) // it wasn't the report
		s.report.Reset()
		s.report.WriteString(reportStart + "\n")
		if s.shown == 0 && start > 0 {
			_, err = s.rest.Write(append(s.line[:start:start], '\n'))
		}
		return err
	case s.report.Len() > 0:
		s.report.Write(s.line)
		return nil
	}
	return s.pass()
}

// pass passes on what there is of the line.
func (s *porcelainSplit) pass() error {
	_, err := s.rest.Write(s.line[s.shown:])
	s.shown = len(s.line)
	if extra := s.shown - longestLine; extra > 0 {
		s.line = bytes.Clone(s.line[extra:])
		s.shown = len(s.line)
	}
	return err
}

// refs are those of the report.
func (s *porcelainSplit) refs() []CodeRef {
	var refs []CodeRef
	for line := range strings.Lines(s.report.String()) {
		if r, ok := parseCodeRef(strings.TrimSuffix(line, "\n")); ok {
			refs = append(refs, r)
		}
	}
	return refs
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const longestTail = 8 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	if extra := len(t.text) - longestTail; extra > 0 {
		t.text = append([]byte(nil), t.text[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return string(t.text) }

// silence passes on whole lines, but for those with one of some words. Git writes of a commit whose parent is not there that it could not read it, and goes on.
type silence struct {
	to    io.Writer
	words []string
	line  []byte
}

func (s *silence) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		end := bytes.IndexAny(b, "\r\n") + 1
		if end == 0 {
			s.line = append(s.line, b...)
			break
		}
		s.line, b = append(s.line, b[:end]...), b[end:]
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// flush passes on what is there.
func (s *silence) flush() error {
	line := s.line
	s.line = nil
	for _, word := range s.words {
		if bytes.Contains(line, []byte(word)) {
			return nil
		}
	}
	_, err := s.to.Write(line)
	return err
}
