package guard

import (
	"context"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

// metaBranch is where a claim says which branch it is for.
const metaBranch = "branch"

// follow drops the needs of a branch that a claim met under a name that the branch had before, and that says so itself.
func (g *Guard) follow(ctx context.Context, branch string, open []hooks.Need, claims []lease.ClaimProof) []hooks.Need {
	claims = slices.DeleteFunc(slices.Clone(claims), func(c lease.ClaimProof) bool { return c.Record == nil || c.Record.Meta[metaBranch] == "" })
	named := slices.ContainsFunc(open, func(n hooks.Need) bool { return n.Kind == hooks.NeedKey && n.Rule.Branch != "" })
	if branch == "" || len(claims) == 0 || !named {
		return open
	}
	former := g.formerNames(ctx, branch)
	return slices.DeleteFunc(slices.Clone(open), func(n hooks.Need) bool {
		return n.Kind == hooks.NeedKey && n.Rule.Branch != "" && slices.ContainsFunc(former, func(name string) bool { return metBefore(n, name, claims) })
	})
}

// metBefore says whether a claim for a branch of that name meets what the rule asked of it.
func metBefore(n hooks.Need, name string, claims []lease.ClaimProof) bool {
	before, err := hooks.Needs([]config.Rule{n.Rule}, name, n.Paths)
	if err != nil || len(before) == 0 {
		return false
	}
	return slices.ContainsFunc(claims, func(c lease.ClaimProof) bool {
		for _, m := range c.Hold.Members {
			if m.Resource == before[0].Resource {
				return c.Record.Meta[metaBranch] == name
			}
		}
		return false
	})
}

// formerNames are the names that a branch had before, by its reflog. Where that can't be read, there are none.
func (g *Guard) formerNames(ctx context.Context, branch string) []string {
	out, err := g.Git.Output(ctx, "reflog", "show", "--format=%gs", "refs/heads/"+branch, "--")
	if err != nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		from, _, ok := strings.Cut(strings.TrimPrefix(line, "Branch: renamed refs/heads/"), " to refs/heads/")
		if ok && from != line {
			names = append(names, from)
		}
	}
	return names
}
