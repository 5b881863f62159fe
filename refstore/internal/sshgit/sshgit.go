// Package sshgit carries records over ssh, by running git's services on the server with the ssh program that git itself would use.
//
// The connection is shared, by OpenSSH's own means, among all calls of all processes of the user: opening one takes longer than everything else
// together. At most eight calls use it at once; see sharing.go for where that is not done. The package opens no connection by itself and
// reads no key: hosts, identities and agents are ssh's.
package sshgit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
)

// Options say where the repository is and how to reach it.
type Options struct {
	// URL is ssh://[user@]host[:port]/path or [user@]host:path.
	URL string
	// Git has the environment, and says whether anybody may be asked.
	Git *gitexec.Git
	// Config has core.sshCommand and ssh.variant; nil: neither is set.
	Config *gitexec.Config
	// UploadPack and ReceivePack are the programs at the server; empty: git's own names.
	UploadPack, ReceivePack string
	// Persist is how long an idle shared connection is kept; 0: connections are not shared.
	Persist time.Duration
	// RuntimeDir is XDG_RUNTIME_DIR, where the shared connection's socket and locks are kept in a folder of ours; empty: below /tmp.
	RuntimeDir string
	// Early is the prefix of refs that are about to be pushed: the connection for that is opened at once, in the background. Empty: it is opened when
	// there is something to push.
	Early string
	// Known is what was learned of the server earlier.
	Known refstore.Server
	// Now is the wall clock, which stamps what is learned.
	Now func() time.Time
}

// New makes the transport. It starts nothing unless Early is set. A URL that can't be used is reported by every call.
func New(o Options) refstore.Transport {
	t := newTransport(o)
	if o.Early != "" && t.bad == nil {
		t.startEarly(o.Early)
	}
	return t
}

func newTransport(o Options) *transport {
	if o.Git == nil {
		o.Git = &gitexec.Git{}
	}
	if o.Config == nil {
		o.Config = &gitexec.Config{}
	}
	if o.UploadPack == "" {
		o.UploadPack = "git-upload-pack"
	}
	if o.ReceivePack == "" {
		o.ReceivePack = "git-receive-pack"
	}
	t := &transport{o: o, server: o.Known, program: chooseProgram(o.Git, o.Config)}
	t.address, t.bad = parseAddress(o.URL)
	return t
}

type transport struct {
	o       Options
	address address
	bad     error // what is wrong with the URL
	program *program

	readying sync.Mutex
	ready    bool
	sharing  sharing

	mu     sync.Mutex
	server refstore.Server
	live   sync.WaitGroup // sessions whose program has not ended
	// idle is a session of upload-pack that has listed refs and can send their commits. It can't list again: its program would
	// answer from memory.
	idle *session

	early *early
}

// prepare finds out, once, how to call ssh.
func (t *transport) prepare(ctx context.Context) error {
	if t.bad != nil {
		return t.unsupported(refstore.FeatureScheme, t.bad.Error())
	}
	t.readying.Lock()
	defer t.readying.Unlock()
	if t.ready {
		return nil
	}
	if err := t.program.resolve(ctx, t.address.host); err != nil {
		return t.unavailable(refstore.TroubleDeadline, false, err)
	}
	if t.program.variant == simple && t.address.port != "" {
		return t.unsupported(refstore.FeatureConfig, "an ssh program that takes no port")
	}
	sharing := t.findSharing(ctx)
	if ctx.Err() != nil {
		return t.unavailable(refstore.TroubleDeadline, false, context.Cause(ctx))
	}
	t.sharing, t.ready = sharing, true
	return nil
}

// Server says what was learned.
func (t *transport) Server() refstore.Server {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.server
}

// Skew is not known: ssh does not tell the time.
func (t *transport) Skew() (time.Duration, bool) { return 0, false }

// Close ends the idle session. The shared connection stays for others. They would be refused if the server still counted sessions of a process
// that has gone, so those are given a moment to end.
func (t *transport) Close() error {
	t.early.giveUp()
	if s := t.takeIdle(); s != nil {
		s.hangUp()
	}
	if !t.shares() {
		return nil
	}
	ended := make(chan struct{})
	go func() {
		t.live.Wait()
		close(ended)
	}()
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	return nil
}

// farewell bounds how long Close waits: about a round trip.
const farewell = 250 * time.Millisecond

func (t *transport) shares() bool {
	t.readying.Lock()
	defer t.readying.Unlock()
	return t.sharing.on()
}

// open starts a service and reads its advertisement.
func (t *transport) open(ctx context.Context, service string, v2 bool, prefixes []string) (*session, error) {
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	s, err := t.start(ctx, service, v2)
	if err != nil {
		return nil, t.notStarted(ctx, err)
	}
	defer s.within(ctx)()
	if s.role != follower { // ssh may ask for a password
		defer t.o.Git.Ask()()
	}
	s.advert, err = gitwire.ReadAdvert(s.answer, prefixes)
	s.opened()
	if err != nil {
		return nil, t.failed(ctx, s, err)
	}
	return s, nil
}

// hangUp ends a session that waits for a request.
func (s *session) hangUp() {
	_ = gitwire.WriteFlush(s.stdin)
	s.finish()
}

// Push sends tx after the server's advertisement has shown that it can succeed.
func (t *transport) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	if err := gitwire.OnlySHA1(t.address.name, tx.Format); err != nil {
		return nil, err
	}
	s, err := t.receiver(ctx, tx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.server = s.advert.Learned(t.server, t.o.Now())
	t.mu.Unlock()
	if err := s.advert.Unfit(t.address.name, tx); err != nil {
		s.hangUp()
		return nil, err
	}
	if tx.Contradicts(s.advert.Refs) {
		s.hangUp()
		return &refstore.Report{Stale: true, Advertised: s.advert.Refs}, nil
	}
	return t.send(ctx, s, tx)
}

// receiver is a session that has advertised the refs. One that was opened early may be behind the times: only a fresh one can contradict tx.
func (t *transport) receiver(ctx context.Context, tx *refstore.Tx) (*session, error) {
	if s := t.early.take(ctx); s != nil {
		if !tx.Contradicts(s.advert.Refs) {
			return s, nil
		}
		s.hangUp()
	}
	return t.open(ctx, t.o.ReceivePack, false, gitwire.Prefixes(tx))
}

func (t *transport) send(ctx context.Context, s *session, tx *refstore.Tx) (*refstore.Report, error) {
	defer s.within(ctx)()
	if err := gitwire.WritePush(s, tx, s.advert); err != nil && !s.sent {
		s.hangUp()
		return nil, t.unavailable(refstore.TroubleLocal, false, err)
	}
	// A server that went away may still have said why.
	report, err := gitwire.ReadReport(s.answer, tx)
	if err != nil {
		return nil, t.failed(ctx, s, err)
	}
	s.finish()
	report.Advertised = s.advert.Refs
	return report, nil
}

func (t *transport) unsupported(f refstore.Feature, detail string) error {
	return &refstore.UnsupportedError{URL: t.address.name, Feature: f, Detail: detail}
}

func (t *transport) unavailable(trouble refstore.Trouble, sent bool, err error) error {
	return &refstore.UnavailableError{URL: t.address.name, Trouble: trouble, Sent: sent, Err: err}
}

// notStarted is for a call that was not made.
func (t *transport) notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return t.unavailable(refstore.TroubleDeadline, false, errors.Join(err, context.Cause(ctx)))
	}
	return t.unavailable(refstore.TroubleLocal, false, err)
}
