package hooks

import (
	"fmt"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/glob"
	"github.com/git-worklease/git-worklease/lease"
)

// NeedKind is what kind of claim is asked for.
type NeedKind string

// The kinds of needs.
const (
	NeedKey  NeedKind = "key"  // of Need.Resource
	NeedAny  NeedKind = "any"  // whichever
	NeedPath NeedKind = "path" // path claims that cover each of Need.Paths
)

// Need is a claim that a rule asks for.
type Need struct {
	Rule config.Rule
	Kind NeedKind
	// Resource is empty except for [NeedKey].
	Resource lease.Resource
	// Paths are the changed paths that the rule is about, in their order; nil where it is about a branch alone and asks for no path claims.
	Paths []string
}

// Needs are the claims that rules ask for of a change of paths on a branch, in the order of the rules. The branch is without refs/heads/, and empty
// where there is none. It returns [lease.ErrBadResource], wrapped, where what a branch's name says makes no resource, and
// [glob.ErrPattern] for a rule that no policy file has.
func Needs(rules []config.Rule, branch string, paths []string) ([]Need, error) {
	ready := make([]glob.Path, len(paths))
	for i, path := range paths {
		ready[i] = glob.ParsePath(path)
	}
	var needs []Need
	for _, rule := range rules {
		captured, ok, err := onBranch(rule, branch)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		meant, ok, err := about(rule, paths, ready)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		need, err := needOf(rule, captured)
		if err != nil {
			return nil, fmt.Errorf("branch %s: %w", branch, err)
		}
		need.Paths = meant
		needs = append(needs, need)
	}
	return needs, nil
}

// onBranch says whether a rule is about a branch, and what its pattern captures.
func onBranch(rule config.Rule, branch string) (captured map[string]string, ok bool, err error) {
	if rule.Branch == "" {
		return nil, true, nil
	}
	pattern, err := glob.ParseBranch(rule.Branch)
	if err != nil {
		return nil, false, err
	}
	captured, ok = pattern.Match(branch)
	return captured, ok, nil
}

// about are the paths that a rule is about, and whether it asks for anything because of them.
func about(rule config.Rule, paths []string, ready []glob.Path) (meant []string, ok bool, err error) {
	if len(rule.Paths) == 0 {
		if rule.Claim == config.ClaimPath {
			return paths, len(paths) > 0, nil
		}
		return nil, true, nil
	}
	set, err := glob.ParsePaths(rule.Paths)
	if err != nil {
		return nil, false, err
	}
	for i := range ready {
		if set.Matches(ready[i]) {
			meant = append(meant, paths[i])
		}
	}
	return meant, len(meant) > 0, nil
}

func needOf(rule config.Rule, captured map[string]string) (Need, error) {
	need := Need{Rule: rule}
	switch rule.Claim {
	case config.ClaimAny:
		need.Kind = NeedAny
	case config.ClaimPath:
		need.Kind = NeedPath
	default:
		resource, err := lease.ParseResource(glob.Fill(rule.Claim, captured))
		if err != nil {
			return need, err
		}
		need.Kind, need.Resource = NeedKey, resource
	}
	return need, nil
}

// Open are the needs that claims of these resources don't meet, each with the paths that are left of it.
func Open(needs []Need, held []lease.Resource) []Need {
	var open []Need
	for _, need := range needs {
		if left, met := need.without(held); !met {
			open = append(open, left)
		}
	}
	return open
}

// without is what claims leave of a need.
func (n Need) without(held []lease.Resource) (left Need, met bool) {
	left = n
	switch n.Kind {
	case NeedAny:
		return left, len(held) > 0
	case NeedKey:
		for _, r := range held {
			if r == n.Resource {
				return left, true
			}
		}
		return left, false
	default:
		left.Paths = nil
		for _, path := range n.Paths {
			if !covered(path, held) {
				left.Paths = append(left.Paths, path)
			}
		}
		return left, len(left.Paths) == 0
	}
}

func covered(path string, held []lease.Resource) bool {
	for _, r := range held {
		if lease.Covers(r, path) {
			return true
		}
	}
	return false
}
