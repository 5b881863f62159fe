package doctor

import (
	"fmt"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// The bounds of what is kept.
const (
	// manyRecords is the number of refs from which listings get slow.
	manyRecords = 5000
	// shownEach bounds how many findings of one kind are named one by one.
	shownEach = 10
)

// Records examines all that stands at the refs, as it was at now by the corrected clock. Released claims need be kept for as long as retention.
func Records(r *Report, s *lease.Survey, now time.Time, retention time.Duration) {
	var c counts
	var old []string
	for i := range s.Views {
		v := &s.Views[i]
		c.add(v)
		future(r, v, now)
		if v.State == lease.StandingReleased && now.Sub(v.Record.Release.At) > retention {
			old = append(old, string(v.Resource))
		}
	}
	r.Good(IDRecords, "%s held, %d released", count(c.Held, "resource"), c.Released).Details = c
	named := map[lease.Standing]int{}
	for i := range s.Views {
		if v := &s.Views[i]; v.Problem != nil {
			if named[v.State]++; named[v.State] <= shownEach {
				bad(r, v)
			}
		}
	}
	more(r, named)
	gone(r, s.Gone)
	if len(old) > 0 {
		r.Note(IDTombstones, "`git worklease gc` shows what can go", "%s released more than %s ago and still kept: %s", areCount(len(old), "claim"), term.Span(retention), some(old)).
			Details = refDetails{len(old)}
	}
	if len(s.Views) > manyRecords {
		r.Warn(IDRefs, "`git worklease gc` shows what can go", "%d refs, above %d: listings get slow", len(s.Views), manyRecords).Details = refDetails{len(s.Views)}
	}
}

func areCount(n int, one string) string {
	if n == 1 {
		return "1 " + one + " was"
	}
	return count(n, one) + " were"
}

// counts are how many refs are in which state.
type counts struct {
	Held     int `json:"held"`
	Released int `json:"released"`
	Other    int `json:"other"`
}

func (c *counts) add(v *lease.View) {
	switch v.State {
	case lease.StandingHeld:
		c.Held++
	case lease.StandingReleased, lease.StandingReserved:
		c.Released++
	default:
		c.Other++
	}
}

// future names a holder whose clock is ahead by more than others forgive.
func future(r *Report, v *lease.View, now time.Time) {
	if v.State != lease.StandingHeld {
		return
	}
	ahead := v.Record.RenewedAt.Sub(now)
	if ahead > max(v.Record.Grace(), clockTolerance) {
		r.Warn(IDFutureRecord, "its holder sets the clock right and renews it", "%s: stamped %s in the future by %s; its age is judged by observation alone",
			v.Resource, term.Span(ahead), fault.Holder(v.Record.Holder))
	}
}

// badStates are those of which each is a finding of its own.
var badStates = []lease.Standing{lease.StandingCorrupt, lease.StandingNewer, lease.StandingForeign, lease.StandingRolledBack}

func badID(state lease.Standing) ID {
	switch state {
	case lease.StandingNewer:
		return IDNewer
	case lease.StandingForeign:
		return IDForeign
	case lease.StandingRolledBack:
		return IDRolledBack
	default:
		return IDCorrupt
	}
}

// bad names a record that can't be used.
func bad(r *Report, v *lease.View) {
	f := r.Fault(badID(v.State), v.Problem)
	if v.Resource == "" {
		f.What = term.Clean(v.Ref) + ": " + f.What
	}
	f.Details = badDetails{Resource: v.Resource, Ref: v.Ref, Tip: string(v.Tip)}
}

type badDetails struct {
	Resource lease.Resource `json:"resource,omitempty"`
	Ref      string         `json:"ref"`
	Tip      string         `json:"tip"`
}

// more says how many further ones there are that were not named.
func more(r *Report, named map[lease.Standing]int) {
	for _, state := range badStates {
		if n := named[state] - shownEach; n > 0 {
			r.Note(badID(state), "`git worklease list` shows all", "%d more are %s", n, state)
		}
	}
}

// gone names refs that this clone has seen and that should be there.
func gone(r *Report, all []lease.Sighting) {
	for i, s := range all {
		if i == shownEach {
			r.Note(IDRolledBack, "", "%d more are gone", len(all)-i)
			return
		}
		err := fmt.Errorf("%s: %w: generation %d was seen, and its ref is gone", s.Resource, lease.ErrRolledBack, s.Generation)
		r.Fault(IDRolledBack, err).Details = goneDetails{s.Resource, s.Generation}
	}
}

type goneDetails struct {
	Resource   lease.Resource   `json:"resource"`
	Generation lease.Generation `json:"generation"`
}

// mostChains bounds how many chains are read.
const mostChains = 1000

// History examines the past of each resource, and goes on after one that can't be read.
func History(ctx Context, r *Report, views []lease.View, audit func(Context, lease.View) ([]lease.Flaw, int, error)) {
	records, flawed := 0, 0
	for i, v := range views {
		if i == mostChains {
			r.Note(IDHistory, "", "the past of %d further resources was not read", len(views)-i)
			break
		}
		r.Checking(fmt.Sprintf("the past of %s (%d of %d)", nameOf(v), i+1, len(views)))
		flaws, n, err := audit(ctx, v)
		if err != nil {
			r.Fault(IDHistory, err)
			if ctx.Err() != nil {
				return
			}
			continue
		}
		records += n
		for _, f := range flaws {
			flawed++
			flaw(r, nameOf(v), f)
		}
	}
	if flawed == 0 {
		r.Good(IDHistory, "%s of %s, all in order", count(records, "record"), count(min(len(views), mostChains), "resource"))
	}
}

func nameOf(v lease.View) string {
	if v.Resource == "" {
		return v.Ref
	}
	return string(v.Resource)
}

// flaw puts a flaw of the past into words. What is past is no problem of today's: the tips are examined by themselves.
func flaw(r *Report, name string, f lease.Flaw) {
	const show = "`git worklease history` shows it"
	at := f.At.UTC().Format(time.RFC3339)
	details := flawDetails{Kind: f.Kind, Name: name, Commit: string(f.OID), At: at}
	switch f.Kind {
	case lease.FlawUnreadable:
		r.Warn(IDHistory, show, "%s: %s of %s is no valid record: %v", name, f.OID.Short(), at, f.Err).Details = details
	case lease.FlawBackwards:
		r.Warn(IDHistory, show, "%s: generation or revision did not grow at %s: %d.%d after %d.%d, by %s", name, at,
			f.Record.Generation, f.Record.Revision, f.Before.Generation, f.Before.Revision, fault.Holder(f.Record.Holder)).Details = details
	case lease.FlawRevived:
		r.Warn(IDHistory, show, "%s: written again after its release, at %s by %s", name, at, fault.Holder(f.Record.Holder)).Details = details
	case lease.FlawEarly:
		r.Warn(IDHistory, show, "%s: taken from %s before its time was up, at %s by %s", name, fault.Holder(f.Before.Holder), at, fault.Holder(f.Record.Holder)).Details = details
	case lease.FlawForced:
		r.Note(IDHistory, "", "%s: ended by force at %s by %s: %s", name, at, fault.Holder(by(f.Record)), f.Record.Release.Reason).Details = details
	case lease.FlawCut:
		r.Note(IDHistory, "", "%s: what came before %s can't be read", name, at).Details = details
	}
}

// by is who ended a claim.
func by(rec *lease.Record) lease.Holder {
	if rec.Release.By != nil {
		return *rec.Release.By
	}
	return rec.Holder
}

type flawDetails struct {
	Kind   lease.FlawKind `json:"kind"`
	Name   string         `json:"resource"`
	Commit string         `json:"commit"`
	At     string         `json:"at"`
}
