package refstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"time"
)

// Options are how a [Store] uses its transport. The zero value works.
type Options struct {
	// Cache keeps records between processes; nil: none are kept.
	Cache *Cache
	// Check judges a record when it comes from the wire, once: what it accepted may be cached, and is then not checked again.
	// Its error becomes [Ref].Err. It may be called by several goroutines.
	Check func(Commit) error
	// Sleep waits between attempts; nil: on the system's clock.
	Sleep func(ctx context.Context, d time.Duration) error
	// Jitter draws a part of a duration, by which a wait is longer; nil: at random.
	Jitter func(most time.Duration) time.Duration
	// Pushed is called once a request to change refs was or may have been sent, by whichever goroutine sent it; nil: nobody counts.
	Pushed func()
	// Attempts bounds how often one request is sent; 0: 4. One that the server turned away unseen is sent twice as often.
	Attempts int
}

// The pauses between attempts double from the first to the last, each with up to as much again of jitter.
const (
	firstPause = 40 * time.Millisecond
	lastPause  = 2 * time.Second
)

// rereads bounds how often a torn view is read again.
const rereads = 3

// New makes a store of a transport.
func New(t Transport, o Options) Store {
	if o.Attempts == 0 {
		o.Attempts = 4
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Jitter == nil {
		o.Jitter = rand.N[time.Duration]
	}
	if o.Check == nil {
		o.Check = func(Commit) error { return nil }
	}
	if o.Pushed == nil {
		o.Pushed = func() {}
	}
	return &store{t: t, o: o}
}

type store struct {
	t Transport
	o Options
	// partial: the server has done a part of what should be all or none.
	partial atomic.Bool
}

func (s *store) Skew() (time.Duration, bool) { return s.t.Skew() }
func (s *store) Close() error                { return s.t.Close() }

func (s *store) Server() Server {
	server := s.t.Server()
	server.Atomic = server.Atomic && !s.partial.Load()
	return server
}

func (s *store) List(ctx context.Context, patterns ...string) ([]Ref, error) {
	var refs []Ref
	for reread := 1; ; reread++ {
		tips, err := s.tips(ctx, patterns)
		if err != nil {
			return nil, err
		}
		var missing bool
		refs, missing, err = s.records(ctx, tips)
		if err != nil || !missing || reread > rereads || s.pause(ctx, reread) != nil {
			if slices.ContainsFunc(patterns, isPrefix) {
				s.o.Cache.compact()
			}
			return refs, err
		}
	}
}

// prefixOf is what the names that a pattern selects begin with. whole says that there is one such name alone, the prefix itself.
func prefixOf(pattern string) (prefix string, whole bool) {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return prefix, false
	}
	return pattern, !strings.HasSuffix(pattern, "/")
}

func isPrefix(pattern string) bool {
	_, whole := prefixOf(pattern)
	return !whole
}

// tips reads the refs that match patterns, trying again where that can help.
func (s *store) tips(ctx context.Context, patterns []string) (map[string]OID, error) {
	prefixes := make([]string, len(patterns))
	for i, p := range patterns {
		prefixes[i], _ = prefixOf(p)
	}
	var tips map[string]OID
	err := s.retry(ctx, func() error {
		var err error
		tips, err = s.t.Refs(ctx, prefixes)
		return err
	})
	if err != nil {
		return nil, err
	}
	selected := make(map[string]OID, len(tips))
	for name, oid := range tips {
		if matches(name, patterns) {
			selected[name] = oid
		}
	}
	return selected, nil
}

func matches(name string, patterns []string) bool {
	for _, p := range patterns {
		if prefix, whole := prefixOf(p); name == prefix || !whole && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// errMissing marks a ref whose object the server did not send: it has moved since, or the server has lost it.
var errMissing = fmt.Errorf("%w: the server did not send the object", ErrNotRecord)

// records finds the commits of tips in the cache or at the server, and says whether some could not be found or read.
func (s *store) records(ctx context.Context, tips map[string]OID) (refs []Ref, missing bool, err error) {
	found := s.o.Cache.get(tips)
	var wants []OID
	for _, oid := range tips {
		switch _, ok := found[oid]; {
		case oid == Unreadable:
			found[oid] = verdict{err: ErrUnreadable}
		case !ok:
			wants = append(wants, oid)
			found[oid] = verdict{err: errMissing}
		}
	}
	if len(wants) > 0 {
		if err := s.fetch(ctx, wants, found); err != nil {
			return nil, false, err
		}
	}
	refs = make([]Ref, 0, len(tips))
	for name, oid := range tips {
		v := found[oid]
		missing = missing || errors.Is(v.err, errMissing) || errors.Is(v.err, ErrUnreadable)
		v.commit.OID = oid
		refs = append(refs, Ref{Name: name, Commit: v.commit, Err: v.err})
	}
	sort.Slice(refs, func(i, j int) bool { return refs[i].Name < refs[j].Name })
	return refs, missing, nil
}

// verdict is a commit, or why it is none.
type verdict struct {
	commit Commit
	err    error
}

// fetch reads wants from the server into found, and caches what passed the check.
func (s *store) fetch(ctx context.Context, wants []OID, found map[OID]verdict) error {
	sort.Slice(wants, func(i, j int) bool { return wants[i] < wants[j] })
	var objects []Object
	err := s.retry(ctx, func() error {
		var err error
		objects, err = s.t.Commits(ctx, wants, 1)
		return err
	})
	if err != nil {
		return err
	}
	good := objects[:0]
	for i, v := range s.judgeAll(objects) {
		oid := objects[i].OID
		if _, wanted := found[oid]; !wanted {
			continue
		}
		found[oid] = v
		if v.err == nil {
			good = append(good, objects[i])
		}
	}
	s.o.Cache.put(good)
	return nil
}

func (s *store) Log(ctx context.Context, tip OID, limit int) ([]Commit, error) {
	if tip == Unreadable {
		return []Commit{{OID: tip}}, nil
	}
	var objects []Object
	err := s.retry(ctx, func() error {
		var err error
		objects, err = s.t.Commits(ctx, []OID{tip}, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	byID := make(map[OID]Object, len(objects))
	for _, o := range objects {
		byID[o.OID] = o
	}
	var chain []Commit
	for oid := tip; !oid.IsZero() && len(chain) < limit; {
		object, ok := byID[oid]
		if !ok {
			break
		}
		delete(byID, oid)
		c, err := DecodeCommit(s.format(), oid, object.Content)
		if err != nil { // nobody knows what came before it
			return append(chain, Commit{OID: oid}), nil //nolint:nilerr // the reader finds out what is wrong with it
		}
		chain = append(chain, c)
		oid = c.Parent
	}
	return chain, nil
}

func (s *store) format() Format {
	if f := s.t.Server().Format; f != "" {
		return f
	}
	return SHA1
}

// retry repeats a read while the trouble looks as if it would pass.
func (s *store) retry(ctx context.Context, read func() error) error {
	for attempt := 1; ; attempt++ {
		err := read()
		if err == nil || attempt >= s.attempts(err) || !passing(err) {
			return err
		}
		if s.pause(ctx, attempt) != nil {
			return err
		}
	}
}

// passing says whether trouble may pass by itself: a busy server, or a connection that was made and then broke.
func passing(err error) bool {
	var u *UnavailableError
	if !errors.As(err, &u) {
		return false
	}
	return u.Trouble == TroubleBusy || u.Trouble == TroubleNetwork && u.Sent
}

// attempts is how often a request may be sent that last failed with err. A server that has no time for a connection, as when thirty come at once, has it
// seconds later.
func (s *store) attempts(err error) int {
	var u *UnavailableError
	if errors.As(err, &u) && u.Trouble == TroubleBusy && !u.Sent {
		return 2 * s.o.Attempts
	}
	return s.o.Attempts
}

// pause waits before the attempt after the given one.
func (s *store) pause(ctx context.Context, attempt int) error {
	d := min(firstPause<<(attempt-1), lastPause)
	return s.o.Sleep(ctx, d+s.o.Jitter(d))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
