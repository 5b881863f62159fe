package server

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// errNoRef is a ref below the prefix that nothing of ours is kept at.
var errNoRef = errors.New("git-worklease keeps nothing at this ref")

// errRecord is what may not stand at a ref of ours.
var errRecord = errors.New("not a signed record upon what stands there")

// errStays is about a ref that has to stay.
var errStays = errors.New("this ref is not to be deleted")

// probeName is the name of a ref on which `git worklease doctor` tries what a server does.
var probeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{8}t\d{6}z-[0-9a-f]{12}-[12]$`) })

// judgeOther judges a ref below the prefix that holds neither a claim nor the authority's record. Probes come and go as they like, since nothing is read
// from them. Everything else grows by signed records alone.
func (j *judge) judgeOther(s *lease.RefStep) error {
	folder, name, _ := strings.Cut(strings.TrimPrefix(s.Ref, j.Settings.Prefix), "/")
	switch {
	case folder == "probes" && probeName().MatchString(name):
		return j.judgeProbe(s)
	case folder == "agents" || folder == "batches" || folder == "events":
		return judgeSigned(s)
	}
	return errNoRef
}

func (j *judge) judgeProbe(s *lease.RefStep) error {
	if s.New.Err != nil || s.New.Commit.Parent != s.Old.Commit.OID && !s.New.Commit.OID.IsZero() {
		return fmt.Errorf("%w: %w", errRecord, orNil(s.New))
	}
	return nil
}

func judgeSigned(s *lease.RefStep) error {
	switch {
	case s.New.Commit.OID.IsZero():
		return errStays
	case s.New.Err != nil || s.New.Commit.Parent != s.Old.Commit.OID:
		return fmt.Errorf("%w: %w", errRecord, orNil(s.New))
	}
	return lease.CheckCommit(s.New.Commit)
}

// orNil is what is wrong with a record.
func orNil(r refstore.Ref) error {
	if r.Err != nil {
		return r.Err
	}
	return fmt.Errorf("its parent is %q", r.Commit.Parent.Short())
}
