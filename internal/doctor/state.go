package doctor

import (
	"errors"
	"fmt"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
)

// State examines what this clone keeps.
func State(r *Report, s *session.State, now time.Time) {
	found := s.Inspect()
	switch err := s.CheckWritable(); {
	case err != nil:
		r.Fault(IDState, err)
	case !found.Exists:
		r.Good(IDState, "this clone keeps nothing yet, and its folder can be written")
	default:
		r.Good(IDState, "the state folder can be written: %s, %s", count(found.Sessions, "session"), count(found.Claims, "claim")).
			Details = stateDetails{found.Sessions, found.Claims}
	}
	for _, err := range found.Problems {
		r.Fault(IDStateFiles, err)
	}
	if len(found.Problems) == 0 && found.Exists {
		r.Good(IDStateFiles, "all files can be used")
	}
	if len(found.Open) > 0 {
		r.Warn(IDStateModes, "run chmod -R go= "+fault.Quote(s.Dir()), "others may look at what this clone keeps: %s", some(found.Open))
	}
	pending(r, found.Pending, now)
	overrides(r, s, now)
}

// overrides tell of those who passed a guard, the last one by name.
func overrides(r *Report, s *session.State, now time.Time) {
	all, err := s.Overrides()
	switch {
	case err != nil:
		r.Fault(IDStateFiles, err)
	case len(all) > 0:
		last := all[len(all)-1]
		r.Note(IDOverrides, "", "WORKLEASE_OVERRIDE has passed %s, last %s by %s, %s ago: %s",
			count(len(all), "refusal"), last.Hook, last.By, term.Span(max(0, now.Sub(last.At))), last.Reason).Details = all
	}
}

type stateDetails struct {
	Sessions int `json:"sessions"`
	Claims   int `json:"claims"`
}

// pending names the writes of unknown outcome. One that is under way is none of anybody's business.
func pending(r *Report, writes []session.PendingWrite, now time.Time) {
	for _, p := range writes {
		if p.Busy {
			continue
		}
		names := make([]string, len(p.Resources))
		for i, resource := range p.Resources {
			names[i] = string(resource)
		}
		r.Warn(IDPending, "`git worklease status` settles it", "the outcome of the %s of %s by session %s, %s ago, is unknown",
			p.Verb, some(names), p.Session, term.Span(max(0, now.Sub(p.Since))))
	}
}

// The least free space, in bytes, that gives no reason to say something, and that which commands need.
const (
	littleSpace = 64 << 20
	noSpace     = 1 << 20
)

// Disk examines the file system of the state's folder, or of the nearest that exists.
func Disk(r *Report, dir string) {
	d, err := diskOf(dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return
	case err != nil:
		r.Note(IDStateDisk, "", "the disk of the state folder can't be examined: %v", err)
		return
	case d.network != "":
		r.Warn(IDStateDisk, "name a folder on a disk of this machine with `git config worklease.stateDir PATH`",
			"the state folder is on a network file system (%s), where locks may not keep other machines out", d.network)
	}
	details := diskDetails{d.free}
	switch {
	case d.free < noSpace:
		r.Problem(IDStateDisk, fault.Unknown, "make space", "no space is left for what this clone keeps").Details = details
	case d.free < littleSpace:
		r.Warn(IDStateDisk, "make space", "%s of space are left for what this clone keeps", megabytes(d.free)).Details = details
	default:
		r.Good(IDStateDisk, "%s of space are left", megabytes(d.free)).Details = details
	}
}

type diskDetails struct {
	Free uint64 `json:"free_bytes"`
}

func megabytes(n uint64) string {
	if n >= 10<<30 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// disk is what a system tells of a file system.
type disk struct {
	free uint64
	// network is its kind where it is on another machine.
	network string
}
