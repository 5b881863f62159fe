package lease

import (
	"fmt"
	"slices"
)

// group is one claim of this session and the resources of a request that mean it, or why there is none.
type group struct {
	hold  Hold
	asked []Resource
	err   error
	// released: the file says that the session released the claim.
	released bool
}

// group finds the claims that a request means, each once; no resources mean all that have not ended, and a pool what [Authority.Held] says.
func (a *Authority) group(ctx Context, verb Verb, resources []Resource) ([]group, error) {
	resources, err := a.Held(resources)
	if err != nil {
		return nil, err
	}
	for _, r := range resources {
		if err := checkText(string(r), MaxResource); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadResource, err)
		}
	}
	if len(resources) == 0 {
		return a.groupAll(ctx)
	}
	var groups []group
	for _, r := range resources {
		g, err := a.find(ctx, verb, r)
		if err != nil {
			return nil, err
		}
		same := slices.IndexFunc(groups, func(o group) bool { return o.hold.Claim != "" && o.hold.Claim == g.hold.Claim })
		if same >= 0 {
			groups[same].asked = append(groups[same].asked, r)
			continue
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// groupAll are all claims of the session, those included that a dead process took and did not get to save.
func (a *Authority) groupAll(ctx Context) ([]group, error) {
	open, err := a.settle(ctx, false, nil)
	if err != nil {
		return nil, err
	}
	holds, err := a.local.Holds()
	if err != nil {
		return nil, err
	}
	var groups []group
	for _, h := range holds {
		if h.End == nil {
			groups = append(groups, group{hold: h, asked: h.resources()})
		}
	}
	for _, p := range open {
		if p.Verb == VerbClaim && p.Session == a.o.Holder.Session && !p.Busy {
			groups = append(groups, group{asked: p.Resources, err: p})
		}
	}
	return groups, nil
}

// find is the newest claim of this session on r. Where the file has none that stands, what dead processes left is settled first.
func (a *Authority) find(ctx Context, verb Verb, r Resource) (group, error) {
	g, err := a.inFile(r)
	if err != nil || g.err == nil {
		return g, err
	}
	if g.err = a.resolve(ctx, []Resource{r}); g.err == nil {
		return a.findSettled(ctx, verb, r)
	}
	return g, nil // the claim's error, which keeps nobody from going on with others
}

func (a *Authority) findSettled(ctx Context, verb Verb, r Resource) (group, error) {
	g, err := a.inFile(r)
	if err == nil && g.hold.Claim == "" && a.keyLost(ctx, r) {
		g.err = fmt.Errorf("%s %s: %w", verb, r, ErrKeyLost)
	}
	return g, err
}

// inFile is the newest claim of this session on r, as the file has it.
func (a *Authority) inFile(r Resource) (group, error) {
	holds, err := a.local.Holds()
	if err != nil {
		return group{}, err
	}
	g := group{asked: []Resource{r}, err: fmt.Errorf("%s: %w", r, ErrNotHeld)}
	for _, h := range holds {
		if !h.has(r) || h.withdrawn() {
			continue
		}
		g.hold, g.err, g.released = h, nil, false
		if h.End != nil {
			g.err, g.released = ended(&h, r), h.End.How == EndReleased
		}
	}
	return g, nil
}

// ended is what a claim that is over means for a verb on r.
func ended(h *Hold, r Resource) error {
	switch h.End.How {
	case EndReleased:
		return fmt.Errorf("%s: %w: released before", r, ErrNotHeld)
	case EndMoved:
		return fmt.Errorf("%s: %w: moved to %s", r, ErrNotHeld, h.End.Reason)
	}
	return &LostError{Resource: r, By: h.End.By, Since: h.End.At, Reason: h.End.Reason, Words: h.End.Words}
}

// keyLost says whether a claim of r that can't be taken is in this session's name. It helps to explain, so failures to read are no.
func (a *Authority) keyLost(ctx Context, r Resource) bool {
	s, err := a.read(ctx, []Resource{r})
	if err != nil || s.tips[r].err != nil || s.tips[r].rec == nil {
		return false
	}
	rec := s.tips[r].rec
	if v := judge(rec, s.tips[r].seen, a.stance(a.moment())); v.takeable || v.reserved {
		return false
	}
	return rec.Holder.Agent == a.o.Holder.Agent && rec.Holder.Session == a.o.Holder.Session && rec.Holder.Host == a.o.Holder.Host
}
