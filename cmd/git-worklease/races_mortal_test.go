package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// fate kills this process with SIGKILL at its n-th step; 0: never.
type fate struct {
	n    int64
	done atomic.Int64
	// reads are steps as well.
	reads bool
}

// look is a step that changes nothing, so that to die at it is to die at the one before.
func (f *fate) look() {
	if f.reads {
		f.step()
	}
}

func (f *fate) step() {
	if f.done.Add(1) != f.n {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // the signal may take a moment
}

// mortalLocal is local state whose process may die before and after each of its writes.
type mortalLocal struct {
	lease.Local
	fate *fate
}

func (m mortalLocal) Holds() ([]lease.Hold, error) {
	m.fate.look()
	return m.Local.Holds()
}

func (m mortalLocal) Pending(rs ...lease.Resource) (left, busy []*lease.Intent, err error) {
	defer m.fate.look()
	return m.Local.Pending(rs...)
}

func (m mortalLocal) SaveHold(h lease.Hold) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.SaveHold(h)
}

func (m mortalLocal) Begin(i *lease.Intent) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.Begin(i)
}

func (m mortalLocal) End(i *lease.Intent) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.End(i)
}

func (m mortalLocal) Leave(i *lease.Intent) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.Leave(i)
}

func (m mortalLocal) See(s ...lease.Sighting) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.See(s...)
}

func (m mortalLocal) SeeMeta(s lease.MetaSighting) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.SeeMeta(s)
}

// mortalStore is a store whose process may die before and after each exchange.
type mortalStore struct {
	refstore.Store
	fate *fate
}

func (m mortalStore) List(ctx context.Context, patterns ...string) ([]refstore.Ref, error) {
	m.fate.look()
	return m.Store.List(ctx, patterns...)
}

func (m mortalStore) Swap(ctx context.Context, tx *refstore.Tx, ours func(refstore.Ref) bool) error {
	m.fate.step()
	defer m.fate.step()
	return m.Store.Swap(ctx, tx, ours)
}

// runProgram is main of the process of a test. how is the value of [asProgram]: at which step it is to be killed, and how late it is, both of
// which may be missing: "step=3 late=1m".
func runProgram(how string) int {
	f := &fate{}
	clock := &logicalClock{Clock: &lease.SystemClock{}}
	for word := range strings.FieldsSeq(how) {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "step":
			f.n, err = strconv.ParseInt(value, 10, 64)
		case "reads":
			f.reads, err = strconv.ParseBool(value)
		case "late":
			var late time.Duration
			late, err = time.ParseDuration(value)
			clock.advance(late)
		}
		if err != nil {
			return 99
		}
	}
	e := &env{
		args: os.Args[1:], in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ(), clock: clock, version: "test",
		local: func(l lease.Local) lease.Local { return mortalLocal{l, f} },
		store: func(s refstore.Store) refstore.Store { return mortalStore{s, f} },
	}
	return execute(context.Background(), e)
}
