package cligit

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/git-worklease/git-worklease/refstore"
)

// trace is what git's own trace of a command tells. Its form is not promised by git, so what is not found there concludes nothing:
// every answer that it gives errs towards "the request may have been sent".
type trace struct {
	// alive says that the trace was written at all.
	alive bool
	// commanded says that the client began to send ref changes.
	commanded bool
	// advertised are the refs that the server advertised to a push; nil where it did not.
	advertised map[string]refstore.OID
	atomic     bool
	agent      string
	// format is the server's object format; empty where it did not say.
	format refstore.Format
	// version2 says that upload-pack answered in protocol version 2.
	version2 bool
}

// traced adds to env what makes git trace into a new file of dir.
func traced(env []string, dir string) (_ []string, file string, err error) {
	f, err := os.CreateTemp(dir, "trace-*")
	if err != nil {
		return nil, "", err
	}
	if err := f.Close(); err != nil {
		return nil, "", err
	}
	return append(env, "GIT_TRACE_BARE=1", "GIT_TRACE="+f.Name(), "GIT_TRACE_PACKET="+f.Name()), f.Name(), nil
}

// readTrace reads and removes the file.
func readTrace(file string) *trace {
	defer func() { _ = os.Remove(file) }()
	f, err := os.Open(file)
	if err != nil {
		return &trace{}
	}
	defer func() { _ = f.Close() }() // only read
	return parseTrace(f)
}

// The lines of a trace. They are compiled when the first is read: most processes never do.
var (
	packetLine  = lazily(`^packet: +([a-z-]+)([<>]) (.*)$`)
	commandLine = lazily(`^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) `)
	refLine     = lazily(`^([0-9a-f]{40}|[0-9a-f]{64}) (\S+?)(?:\\0(.*))?$`)
)

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func parseTrace(r io.Reader) *trace {
	tr := &trace{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 256<<10)
	for lines.Scan() {
		tr.alive = true
		m := packetLine().FindStringSubmatch(lines.Text())
		// A server on this machine writes into the same file.
		if m == nil || m[1] == "receive-pack" || m[1] == "upload-pack" {
			continue
		}
		if m[2] == ">" {
			tr.commanded = tr.commanded || commandLine().MatchString(m[3])
		} else {
			tr.received(m[3])
		}
	}
	if lines.Err() != nil {
		tr.commanded = true // who knows
	}
	return tr
}

// received takes what the server sent.
func (tr *trace) received(text string) {
	if text == "version 2" {
		tr.version2 = true
	}
	if tr.version2 {
		tr.capability(text)
		return
	}
	m := refLine().FindStringSubmatch(text)
	if m == nil {
		return
	}
	if tr.advertised == nil {
		tr.advertised = make(map[string]refstore.OID)
	}
	// The first word counts: hooks that run git write into the same file afterwards.
	_, again := tr.advertised[m[2]]
	if oid, err := refstore.ParseOID(m[1]); err == nil && !oid.IsZero() && m[2] != "capabilities^{}" && m[2] != ".have" && !again {
		tr.advertised[m[2]] = oid
	}
	for c := range strings.FieldsSeq(m[3]) {
		tr.capability(c)
	}
}

func (tr *trace) capability(c string) {
	name, value, _ := strings.Cut(c, "=")
	switch name {
	case "atomic":
		tr.atomic = true
	case "agent":
		tr.agent = value
	case "object-format":
		tr.format = refstore.Format(value)
	}
}
