package doctor

import (
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// slowRead is the time from which a read is worth a warning: a claim takes one or two of them.
const slowRead = 3 * time.Second

// Read reads one ref three times, and says how long that took. It says whether the remote answers at all.
func Read(ctx Context, r *Report, store refstore.Store, ref string, now func() time.Time) bool {
	var took []time.Duration
	for range 3 {
		start := now()
		if _, err := store.List(ctx, ref); err != nil {
			r.Fault(IDRead, err)
			return false
		}
		took = append(took, now().Sub(start))
	}
	slices.Sort(took)
	details := readDetails{Median: took[1].Milliseconds(), Fastest: took[0].Milliseconds(), Slowest: took[2].Milliseconds()}
	if took[1] > slowRead {
		r.Warn(IDRead, "look at the connection; --timeout gives commands longer", "the remote answers, in %s", span(took[1])).Details = details
		return true
	}
	r.Good(IDRead, "the remote answers, in %s", span(took[1])).Details = details
	return true
}

type readDetails struct {
	Median  int64 `json:"median_ms"`
	Fastest int64 `json:"fastest_ms"`
	Slowest int64 `json:"slowest_ms"`
}

// manyRefs is the number of refs from which their advertisement costs more than everything else.
const manyRefs = 2000

// Wire says how the server is spoken to, after it was read. why is why the system's git carries everything, "" where it does not.
func Wire(ctx Context, r *Report, git *gitexec.Git, url, why string, server refstore.Server) {
	kind := map[gitexec.Kind]string{gitexec.KindHTTP: "http", gitexec.KindSSH: "ssh", gitexec.KindPath: "a path", gitexec.KindFile: "a path"}[gitexec.KindOf(url)]
	if why != "" {
		r.Note(IDTransport, "", "through the system's git, which takes longer: %s", why)
		return
	}
	r.Good(IDTransport, "in process, over %s", kind)
	if server.ReadV2 {
		r.Good(IDProtocol, "version 2: the server sends only the claims' refs")
		return
	}
	n, err := countRefs(ctx, git, url)
	switch {
	case err != nil:
		r.Note(IDProtocol, "", "version 0: the server sends all of its refs each time")
	case n > manyRefs:
		r.Warn(IDProtocol, newProtocol(url), "version 0: the server sends all of its %d refs each time", n).Details = refDetails{n}
	default:
		r.Note(IDProtocol, newProtocol(url), "version 0: the server sends all of its refs each time, which are %d", n).Details = refDetails{n}
	}
}

type refDetails struct {
	Refs int `json:"refs"`
}

func newProtocol(url string) string {
	switch gitexec.KindOf(url) {
	case gitexec.KindSSH:
		return "whoever runs the server lets its sshd accept GIT_PROTOCOL (AcceptEnv)"
	case gitexec.KindHTTP:
		return "whoever runs the server passes the Git-Protocol header on to git"
	default: // nobody stands between
		return ""
	}
}

// countRefs counts what a server advertises.
func countRefs(ctx Context, git *gitexec.Git, url string) (int, error) {
	out, err := git.Output(ctx, "ls-remote", "--", url)
	return strings.Count(string(out), "\n"), err
}

// Server says what the server has told of itself.
func Server(r *Report, s refstore.Server) {
	var words []string
	if s.Agent != "" {
		words = append(words, s.Agent)
	}
	if s.Format != "" {
		words = append(words, "object format "+string(s.Format))
	}
	if len(words) > 0 {
		r.Good(IDServer, "%s", strings.Join(words, ", ")).Details = s
	}
}

// SSHSharing says whether ssh calls share a connection.
func SSHSharing(r *Report, s remote.Sharing, err error) {
	switch {
	case err != nil:
		r.Note(IDSSHSharing, "", "%s", fault.Explain(err, r.Scene).Message)
	case !s.On:
		r.Note(IDSSHSharing, "", "each call opens a connection of its own: %s", s.Why)
	case !s.Alive:
		r.Warn(IDSSHSharing, "look at what `ssh -v` says of ControlMaster; worklease.sshPersist=off stops trying", "calls should share a connection, and none is open after a call").
			Details = socketDetails{s.Socket, s.Longest}
	default:
		r.Good(IDSSHSharing, "calls share an open connection; its socket's path has %d of at most %d bytes", s.Socket, s.Longest).
			Details = socketDetails{s.Socket, s.Longest}
	}
}

type socketDetails struct {
	Bytes int `json:"socket_bytes"`
	Most  int `json:"socket_bytes_at_most"`
}

// clockTolerance is by how much a clock may be off before it is named.
const clockTolerance = 30 * time.Second

// Clock compares this machine's clock with the server's, as a reply has shown it.
func Clock(r *Report, skew time.Duration, known bool, grace time.Duration) {
	switch {
	case !known:
		r.Note(IDClock, "keep this machine's clock right", "the server does not tell its time, so clocks are not compared; others wait %s after an expiry for that", term.Span(grace))
	case skew.Abs() > clockTolerance:
		direction := "behind"
		if skew < 0 {
			direction = "ahead of"
		}
		r.Warn(IDClock, "set the clock right; claims are judged by the server's meanwhile", "this machine's clock is %s %s the server's", term.Span(skew), direction).
			Details = clockDetails{int64(skew.Seconds())}
	default:
		r.Good(IDClock, "this machine's clock agrees with the server's").Details = clockDetails{int64(skew.Seconds())}
	}
}

type clockDetails struct {
	Offset int64 `json:"server_minus_local_seconds"`
}

// BootClock says whether a claim's time is measured through a suspension of the machine.
func BootClock(r *Report, at lease.Instant) {
	if at.Boot == "" {
		r.Warn(IDBootClock, "keep this machine's clock right", "this system has no clock that runs through suspend: deadlines rest on the wall clock alone")
		return
	}
	r.Good(IDBootClock, "there is a clock that runs through suspend")
}
