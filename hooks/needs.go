package hooks

import (
	"fmt"
	"slices"

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

// Rules are rules made ready for many changes.
type Rules struct{ rules []readyRule }

type readyRule struct {
	config.Rule
	branch *glob.Branch // nil: every branch
	paths  *glob.Paths  // nil: every path
}

// Compile makes rules ready. It returns a [*glob.PatternError] for a rule that no policy file has.
func Compile(rules []config.Rule) (*Rules, error) {
	ready := make([]readyRule, len(rules))
	for i, rule := range rules {
		var err error
		ready[i].Rule = rule
		if rule.Branch != "" {
			if ready[i].branch, err = glob.ParseBranch(rule.Branch); err != nil {
				return nil, err
			}
		}
		if len(rule.Paths) > 0 {
			if ready[i].paths, err = glob.ParsePaths(rule.Paths); err != nil {
				return nil, err
			}
		}
	}
	return &Rules{ready}, nil
}

// Needs are the claims that rules ask for of a change of paths on a branch: [Compile] and [Rules.Needs] in one.
func Needs(rules []config.Rule, branch string, paths []string) ([]Need, error) {
	ready, err := Compile(rules)
	if err != nil {
		return nil, err
	}
	return ready.Needs(branch, paths)
}

// Needs are the claims that the rules ask for of a change of paths on a branch, in the order of the rules. The branch is without refs/heads/, and
// empty where there is none. It returns [lease.ErrBadResource], wrapped, where what a branch's name says makes no resource.
func (r *Rules) Needs(branch string, paths []string) ([]Need, error) {
	if len(r.rules) == 0 {
		return nil, nil
	}
	ready := make([]glob.Path, len(paths))
	for i, path := range paths {
		ready[i] = glob.ParsePath(path)
	}
	var needs []Need
	for i := range r.rules {
		rule := &r.rules[i]
		captured, ok := rule.onBranch(branch)
		if !ok {
			continue
		}
		meant, ok := rule.about(paths, ready)
		if !ok {
			continue
		}
		need, err := needOf(rule.Rule, captured)
		if err != nil {
			return nil, fmt.Errorf("branch %s: %w", branch, err)
		}
		need.Paths = meant
		needs = append(needs, need)
	}
	return needs, nil
}

// onBranch says whether a rule is about a branch, and what its pattern captures.
func (r *readyRule) onBranch(branch string) (captured map[string]string, ok bool) {
	if r.branch == nil {
		return nil, true
	}
	return r.branch.Match(branch)
}

// about are the paths that a rule is about, and whether it asks for anything because of them.
func (r *readyRule) about(paths []string, ready []glob.Path) (meant []string, ok bool) {
	if r.paths == nil {
		if r.Claim == config.ClaimPath {
			return paths, len(paths) > 0
		}
		return nil, true
	}
	for i := range ready {
		if r.paths.Matches(ready[i]) {
			meant = append(meant, paths[i])
		}
	}
	return meant, len(meant) > 0
}

// OfBranch are the resources that rules ask for because of a branch's name, whatever changes on it, each once and in the order of the rules. It
// returns [lease.ErrBadResource], wrapped, as [Rules.Needs] does.
func (r *Rules) OfBranch(branch string) ([]lease.Resource, error) {
	var resources []lease.Resource
	for i := range r.rules {
		rule := &r.rules[i]
		captured, ok := rule.onBranch(branch)
		if !ok || rule.branch == nil {
			continue
		}
		need, err := needOf(rule.Rule, captured)
		if err != nil {
			return nil, fmt.Errorf("branch %s: %w", branch, err)
		}
		if need.Kind == NeedKey && !slices.Contains(resources, need.Resource) {
			resources = append(resources, need.Resource)
		}
	}
	return resources, nil
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
		return left, slices.Contains(held, n.Resource)
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
	return slices.ContainsFunc(held, func(r lease.Resource) bool { return lease.Covers(r, path) })
}
