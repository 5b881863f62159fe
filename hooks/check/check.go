// Package check judges commits by what their messages name, as CI does, which has no session: under which claims they were made.
//
// A trailer is evidence and no proof. That a resource had a generation shows that somebody claimed it; it does not show that the commit's author did.
package check

import (
	"fmt"
	"slices"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

// Verdict is what was found of a commit.
type Verdict string

// The verdicts.
const (
	Covered    Verdict = "covered"    // it names claims that were, for all that the rules ask
	Refused    Verdict = "refused"    // it doesn't
	CannotTell Verdict = "unknown"    // it names a claim of which nothing is left that would show it
	Overridden Verdict = "overridden" // it doesn't, and says why
)

// Finding is what was found of one commit of which the rules ask something.
type Finding struct {
	Commit *hooks.Commit
	// Needs are all that the rules ask for, and Open those that no claim meets which is known to have been.
	Needs, Open []hooks.Need
	// Faults say what is wrong with its trailers.
	Faults  []string
	Verdict Verdict
}

// Question is what is to be judged.
type Question struct {
	Policy *config.Policy
	// Branch is the one that the commits are on, without refs/heads/; "" for none.
	Branch  string
	Commits []hooks.Commit
	// Were asks the remote about generations, see [lease.Authority.Were]. It is not called where no commit names one that matters.
	Were func([]lease.Epoch) ([]lease.Past, error)
}

// Judge judges the commits of which the rules ask something, in their order. A merge that changes nothing of its own is asked nothing, and one that does may
// rest on a claim that any of the commits names, because no trailer is added to merges.
func Judge(q Question) ([]Finding, error) {
	findings, err := q.asked()
	if err != nil || len(findings) == 0 {
		return nil, err
	}
	known, err := q.lookUp(findings)
	if err != nil {
		return nil, err
	}
	for i := range findings {
		findings[i].judge(q.claimsOf(findings[i].Commit), known)
	}
	return findings, nil
}

// asked are the commits of which the rules ask something.
func (q *Question) asked() ([]Finding, error) {
	rules, err := hooks.Compile(q.Policy.Rules())
	if err != nil {
		return nil, err
	}
	enforce, ref := q.Policy.Enforce(), "refs/heads/"+q.Branch
	var findings []Finding
	for i := range q.Commits {
		c := &q.Commits[i]
		if c.Merge() && len(c.Paths) == 0 || enforce.Exempts(ref, c.Author) {
			continue
		}
		needs, err := rules.Needs(q.Branch, c.Paths)
		if err != nil {
			return nil, err
		}
		if len(needs) > 0 {
			findings = append(findings, Finding{Commit: c, Needs: needs})
		}
	}
	return findings, nil
}

// claimsOf are the trailers that a commit may rest on.
func (q *Question) claimsOf(c *hooks.Commit) []string {
	if !c.Merge() {
		return c.Claims
	}
	var all []string
	for i := range q.Commits {
		all = append(all, q.Commits[i].Claims...)
	}
	return all
}

// lookUp asks about every generation that is named, once.
func (q *Question) lookUp(findings []Finding) (map[lease.Epoch]lease.Past, error) {
	var epochs []lease.Epoch
	for i := range findings {
		for _, value := range q.claimsOf(findings[i].Commit) {
			trailer, err := hooks.ParseTrailer(value)
			if epoch := lease.Epoch(trailer); err == nil && !slices.Contains(epochs, epoch) {
				epochs = append(epochs, epoch)
			}
		}
	}
	if len(epochs) == 0 {
		return nil, nil
	}
	pasts, err := q.Were(epochs)
	if err != nil {
		return nil, err
	}
	known := map[lease.Epoch]lease.Past{}
	for i, epoch := range epochs {
		known[epoch] = pasts[i]
	}
	return known, nil
}

// judge compares what is asked with the trailers.
func (f *Finding) judge(claims []string, known map[lease.Epoch]lease.Past) {
	var were, maybe []lease.Resource
	for _, value := range claims {
		trailer, err := hooks.ParseTrailer(value)
		if err != nil {
			f.fault(err.Error())
			continue
		}
		switch known[lease.Epoch(trailer)] {
		case lease.PastWas:
			were = append(were, trailer.Resource)
		case lease.PastNever:
			f.fault(fmt.Sprintf("%s never had generation %d", trailer.Resource, trailer.Generation))
		default:
			maybe = append(maybe, trailer.Resource)
			f.fault(fmt.Sprintf("nothing is left that would show generation %d of %s", trailer.Generation, trailer.Resource))
		}
	}
	f.Open = hooks.Open(f.Needs, were)
	switch {
	case len(f.Open) == 0:
		f.Verdict, f.Faults = Covered, nil
	case len(hooks.Open(f.Open, append(were, maybe...))) == 0:
		f.Verdict = CannotTell
	case len(f.Commit.Overrides) > 0:
		f.Verdict = Overridden
	default:
		f.Verdict = Refused
	}
}

func (f *Finding) fault(text string) {
	if !slices.Contains(f.Faults, text) {
		f.Faults = append(f.Faults, text)
	}
}
