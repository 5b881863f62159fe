package lease

import (
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Question is what a guard asks of the remote.
type Question struct {
	// Holds are claims, of whichever sessions of this clone.
	Holds []Hold
	// Resources are those of which it is asked who has them.
	Resources []Resource
	// Paths asks for all path claims.
	Paths bool
}

// Answer is what one reading of the remote says, stale as soon as it was read.
type Answer struct {
	// Claims say what became of Question.Holds, in their order.
	Claims []ClaimProof
	// Views are Question.Resources, in their order; what overlaps with them is not among them.
	Views []View
	// Paths are the resources of path claims that have a ref, whatever stands there.
	Paths []View
}

// ClaimProof says whether a claim stands.
type ClaimProof struct {
	Hold Hold
	// Record is what stands at the ref of its first member, if it could be judged.
	Record *Record
	// Left is for how long, by whichever clock ends it first.
	Left time.Duration
	// Err is nil with the claim held at the time of reading; otherwise what [VerifyResult] says.
	Err error
}

// Ask puts a question to the remote, by one request. It settles nothing and writes no ref. The error is what kept the remote from answering.
func (a *Authority) Ask(ctx Context, q Question) (*Answer, error) {
	resources := slices.Clone(q.Resources)
	for i := range q.Holds {
		resources = append(resources, q.Holds[i].resources()...)
	}
	slices.Sort(resources)
	resources = slices.Compact(resources)
	var patterns []string
	if q.Paths {
		patterns = append(patterns, a.refs.paths())
	}
	s, listed, err := a.readWith(ctx, resources, patterns...)
	if err != nil {
		return nil, err
	}
	answer := &Answer{}
	for _, h := range q.Holds {
		proof, err := a.prove(ctx, h, s)
		if err != nil {
			return nil, err
		}
		answer.Claims = append(answer.Claims, proof)
	}
	m := a.moment()
	for _, r := range q.Resources {
		answer.Views = append(answer.Views, a.view(s.tips[r], q.Holds, m))
	}
	if q.Paths {
		answer.Paths, err = a.viewAll(a.pathsIn(listed), s.meta.Authority, s.before, q.Holds)
	}
	return answer, err
}

// pathsIn are the refs of path claims in a listing.
func (a *Authority) pathsIn(listed []refstore.Ref) []refstore.Ref {
	begins := strings.TrimSuffix(a.refs.paths(), "*")
	return slices.DeleteFunc(slices.Clone(listed), func(ref refstore.Ref) bool { return !strings.HasPrefix(ref.Name, begins) })
}

// prove judges one claim, which is read again where what was read is torn.
func (a *Authority) prove(ctx Context, h Hold, s *snapshot) (ClaimProof, error) {
	if h.Unconfirmed {
		return ClaimProof{Hold: h, Err: h.unconfirmed()}, nil
	}
	st, s, err := a.lookAgain(ctx, &h, s)
	if err != nil {
		return ClaimProof{}, err
	}
	p := ClaimProof{Hold: h, Record: s.tips[h.Members[0].Resource].rec}
	p.Left, p.Err = proof(&h, st, s.tips[h.Members[0].Resource], a.moment())
	return p, nil
}
