package doctor

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// Probe tries what a server does with refs, on two of its own below Prefix, where no claim is ever looked for. They are deleted again however it ends; those
// of a killed run are deleted by a run that comes a day later.
type Probe struct {
	Store  refstore.Store
	Prefix string
	// Now is the time that names the refs and judges the age of others, corrected where that is possible.
	Now  func() time.Time
	Rand io.Reader
}

const (
	probeStamp = "20060102t150405z"
	// probeLife is how old refs of a killed run must be to be deleted: a run takes seconds.
	probeLife = 24 * time.Hour
	// swapTime bounds each change, and the deletion of all.
	swapTime = 15 * time.Second
)

// probing is one run.
type probing struct {
	*Probe
	r    *Report
	refs [2]string
	// tips are what the refs hold, as far as it is known.
	tips map[string]refstore.OID
	n    int
}

// Run makes the probe, and returns whether refs can be written. The report's scene must be that of a command that writes.
func (p *Probe) Run(ctx Context, r *Report) bool {
	if !p.sweep(ctx, r) {
		return false
	}
	id := make([]byte, 6)
	if _, err := io.ReadFull(p.Rand, id); err != nil {
		r.Fault(IDWrite, err)
		return false
	}
	run := &probing{Probe: p, r: r, tips: map[string]refstore.OID{}}
	for i := range run.refs {
		run.refs[i] = fmt.Sprintf("%s%s-%s-%d", p.folder(), p.Now().UTC().Format(probeStamp), hex.EncodeToString(id), i+1)
	}
	defer run.clean(ctx)
	return run.write(ctx)
}

func (p *Probe) folder() string { return p.Prefix + "probes/" }

// sweep deletes what killed runs left behind, and returns false where the server does not let refs be deleted: then no more are made.
func (p *Probe) sweep(ctx Context, r *Report) bool {
	listed, err := p.Store.List(ctx, p.folder())
	if err != nil {
		r.Fault(IDProbes, err)
		return false
	}
	swept, old := 0, slices.DeleteFunc(listed, func(ref refstore.Ref) bool { return !p.old(ref.Name) })
	for i, err := range refstore.Remove(ctx, p.Store, p.Now(), old...) {
		switch {
		case errors.Is(err, refstore.ErrConflict): // another run was faster
		case err != nil:
			r.Fault(IDProbes, fmt.Errorf("delete %s: %w", old[i].Name, err))
			return false
		default:
			swept++
		}
	}
	if swept > 0 {
		r.Note(IDProbes, "", "%s of an earlier run that was killed deleted", count(swept, "ref"))
	}
	return true
}

// old says whether a ref is that of a run of more than a day ago.
func (p *Probe) old(name string) bool {
	stamp, _, ok := strings.Cut(strings.TrimPrefix(name, p.folder()), "-")
	at, err := time.Parse(probeStamp, stamp)
	return ok && err == nil && p.Now().Sub(at) > probeLife
}

func (p *Probe) remove(ctx Context, ref string, oid refstore.OID) error {
	tx, err := p.Store.Build(refstore.Change{Ref: ref, Old: oid, When: p.Now()})
	if err != nil {
		return err
	}
	return p.Store.Swap(ctx, tx, nil)
}

// write goes through the steps, each of which builds on the one before.
func (p *probing) write(ctx Context) bool {
	first, second := p.refs[0], p.refs[1]
	if err := p.swap(ctx, p.change(first, "")); err != nil {
		p.r.Fault(IDWrite, err)
		return false
	}
	created := p.tips[first]
	p.r.Good(IDWrite, "refs below %s can be written", p.Prefix)
	if !p.shown(ctx) {
		return false
	}
	if !p.refused(ctx, "a ref that was there was made anew", p.change(first, "")) {
		return false
	}
	pair := []refstore.Change{p.change(first, created), p.change(second, "")}
	atomic, ok := p.atomic(ctx, pair)
	if !ok {
		return false
	}
	stale := []refstore.Change{p.change(first, created), p.change(second, p.tips[second])}
	if !atomic {
		stale = stale[:1]
	}
	if !p.refused(ctx, "a change was made that named another object than the ref had", stale...) {
		return false
	}
	p.r.Good(IDSwap, "the server compares what a ref holds before it changes it")
	if atomic {
		p.r.Good(IDAtomic, "the server changes several refs at once or not at all")
	}
	return true
}

// change gives a ref a commit that no other is like.
func (p *probing) change(ref string, old refstore.OID) refstore.Change {
	p.n++
	return refstore.Change{Ref: ref, Old: old, Message: fmt.Appendf(nil, "probe of git-worklease doctor\n\n%s %d\n", p.refs[0], p.n), When: p.Now()}
}

// swap makes changes. An interruption is heeded between changes and not within one: a request that is under way could make a ref after it was deleted.
func (p *probing) swap(ctx Context, changes ...refstore.Change) error {
	tx, err := p.Store.Build(changes...)
	if err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return &refstore.UnavailableError{Trouble: refstore.TroubleDeadline, Err: err}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), swapTime)
	defer cancel()
	if err := p.Store.Swap(ctx, tx, nil); err != nil {
		return err
	}
	for _, u := range tx.Updates {
		p.tips[u.Ref] = u.New
	}
	return nil
}

// shown looks for the first ref in a listing.
func (p *probing) shown(ctx Context) bool {
	listed, err := p.Store.List(ctx, p.refs[0])
	switch {
	case err != nil:
		p.r.Fault(IDHiddenRefs, err)
	case len(listed) == 0:
		p.r.Fault(IDHiddenRefs, fmt.Errorf("%w: %s", lease.ErrHidden, p.Prefix))
	default:
		p.r.Good(IDHiddenRefs, "the remote shows the refs that it takes")
		return true
	}
	return false
}

// refused makes a change that must not be made.
func (p *probing) refused(ctx Context, what string, changes ...refstore.Change) bool {
	err := p.swap(ctx, changes...)
	switch {
	case errors.Is(err, refstore.ErrConflict):
		return true
	case errors.Is(err, refstore.ErrHalfApplied):
		p.notAtomic("the server says that it changes several refs at once or not at all, and does not")
	case err != nil:
		p.r.Fault(IDSwap, err)
	default:
		p.r.Problem(IDSwap, fault.Forbidden, "use another remote for claims: `git config worklease.remote URL`", "the server does not compare before it swaps: %s", what)
	}
	return false
}

// atomic changes both refs at once, or where the server can't, the first alone.
func (p *probing) atomic(ctx Context, pair []refstore.Change) (atomic, ok bool) {
	err := p.swap(ctx, pair...)
	var unsupported *refstore.UnsupportedError
	switch {
	case err == nil:
		return true, true
	case errors.As(err, &unsupported) && unsupported.Feature == refstore.FeatureAtomic:
		p.r.Warn(IDAtomic, "claim one resource at a time", "the server can't change several refs at once: claims on several resources are refused")
		if err := p.swap(ctx, pair[0]); err != nil {
			p.r.Fault(IDSwap, err)
			return false, false
		}
		return false, true
	case errors.Is(err, refstore.ErrHalfApplied):
		p.notAtomic("the server did a part of a change of several refs")
	default:
		p.r.Fault(IDAtomic, err)
	}
	return false, false
}

func (p *probing) notAtomic(what string) {
	p.r.Problem(IDAtomic, fault.Forbidden, "claim one resource at a time, and tell whoever runs the server", "%s", what)
}

// clean deletes the refs, also after an interruption: what is listed, and where the server hides refs, what was written last.
func (p *probing) clean(ctx Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), swapTime)
	defer cancel()
	listed, err := p.Store.List(ctx, p.refs[:]...)
	if err != nil {
		p.r.Fault(IDProbes, fmt.Errorf("%s may be left behind: %w", p.refs[0], err))
		return
	}
	for _, ref := range listed {
		p.tips[ref.Name] = ref.Commit.OID
	}
	for ref, tip := range p.tips {
		if err := p.remove(ctx, ref, tip); err != nil && !errors.Is(err, refstore.ErrConflict) {
			p.r.Fault(IDProbes, fmt.Errorf("%s could not be deleted again: %w", ref, err))
		}
	}
}
