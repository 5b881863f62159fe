package guard

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// Trespass is what is said of a change because of others' path claims.
type Trespass struct {
	// Rivals are the claims of others on what is changed; nil for none.
	Rivals *Error
	// Unsure is what can't be told where the policy refuses a commit for that, and Warns where it doesn't; nil for nothing.
	Unsure, Warns *Error
}

// Trespass judges a change by the path claims of others alone, by a listing that is at most a minute old. It renews nothing.
func (g *Guard) Trespass(ctx context.Context, c hooks.Change) Trespass {
	if g.idle() {
		return Trespass{}
	}
	ctx, cancel := hurried(ctx)
	defer cancel()
	var t Trespass
	for _, f := range g.rivals(ctx, c) {
		switch mode := Milder(g.Law.Commit, g.Law.Offline); {
		case f.Denies():
			t.Rivals = t.Rivals.with(OpCommit, f)
		case mode == config.ModeBlock:
			t.Unsure = t.Unsure.with(OpCommit, f)
		case mode == config.ModeWarn:
			t.Warns = t.Warns.with(OpCommit, f)
		}
	}
	return t
}

// rivals are the findings about a change by a listing.
func (g *Guard) rivals(ctx context.Context, c hooks.Change) []Finding {
	ref := RefOf(c.Branch)
	mine, err := g.held()
	if err != nil {
		return []Finding{{Kind: KindUnsure, Ref: ref, Err: err}}
	}
	listed, err := g.listing(ctx, c.Paths, mine)
	if err != nil {
		return []Finding{{Kind: KindUnsure, Ref: ref, Paths: uncovered(c.Paths, g.standing(mine.holds)), Err: err}}
	}
	return g.against(ref, c.Paths, listed, mine)
}

// listing is the path claims, read at most a minute ago as far as paths depend on it. What it says against them is looked up once more, since a claim may have
// been released meanwhile.
func (g *Guard) listing(ctx context.Context, paths []string, mine held) ([]session.PathClaim, error) {
	if len(uncovered(paths, g.standing(mine.holds))) == 0 {
		return nil, nil
	}
	seen := g.State.Glance()
	fresh := g.recent(seen.Read)
	if fresh && len(g.against("", paths, seen.Paths, mine)) == 0 {
		return seen.Paths, nil
	}
	err := g.silent(seen)
	if err == nil {
		var answer *lease.Answer
		if answer, err = g.ask(ctx, lease.Question{Paths: true}); err == nil {
			return pathClaims(answer.Paths), nil
		}
	}
	if fresh {
		return seen.Paths, nil
	}
	return nil, err
}

// uncovered are the paths that no claim of ours covers: those that one covers nobody else can have.
func uncovered(paths []string, holds []lease.Hold) []string {
	var ours lease.PathSet
	for _, r := range resources(holds) {
		ours.Add(r)
	}
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return len(ours.Covering(path)) > 0 })
}

// against are the findings about paths among the claims of a listing, one for each claim.
func (g *Guard) against(ref string, paths []string, listed []session.PathClaim, mine held) []Finding {
	if paths = uncovered(paths, g.standing(mine.holds)); len(paths) == 0 {
		return nil
	}
	others, byResource := g.others(listed, mine.holds)
	var findings []Finding
	at := map[lease.Resource]int{}
	for _, path := range paths {
		for _, r := range others.Covering(path) {
			if i, ok := at[r]; ok {
				findings[i].Paths = append(findings[i].Paths, path)
				continue
			}
			at[r] = len(findings)
			findings = append(findings, rivalFinding(ref, path, byResource[r]))
		}
	}
	for i := range listed {
		if listed[i].Resource == "" { // it may be about any path
			findings = append(findings, Finding{Kind: KindUnsure, Ref: ref, Paths: paths, Err: fmt.Errorf("what stands at a ref of a path: %w", problem(&listed[i]))})
		}
	}
	return findings
}

// others are the claims of a listing that are not ours and that nobody may take yet.
func (g *Guard) others(listed []session.PathClaim, ours []lease.Hold) (set lease.PathSet, byResource map[lease.Resource]*session.PathClaim) {
	byResource = map[lease.Resource]*session.PathClaim{}
	now := g.now().Wall
	for i := range listed {
		c := &listed[i]
		our := slices.ContainsFunc(ours, func(h lease.Hold) bool { return h.Claim == c.Claim })
		if c.Problem != "" || !our && c.Takeable.After(now) {
			set.Add(c.Resource)
			byResource[c.Resource] = c
		}
	}
	return set, byResource
}

func rivalFinding(ref, path string, c *session.PathClaim) Finding {
	f := Finding{Kind: KindRival, Ref: ref, Paths: []string{path}, Resource: c.Resource}
	if c.Problem != "" {
		f.Kind, f.Err = KindUnsure, problem(c)
		return f
	}
	f.Rival = &Rival{Resource: c.Resource, Holder: c.Holder, Purpose: c.Purpose, Expires: c.Expires}
	return f
}
