package guard

import (
	"bytes"
	"slices"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
)

// Law is what several policies say together: that of the work tree, which anybody may be about to change, and that of the remote's default branch. Of
// each mode it is the stricter one, and the rules of both hold.
type Law struct {
	Commit, Push, Offline, Forks config.Mode
	// Override says who may pass by WORKLEASE_OVERRIDE.
	Override config.ForceRule
	parts    []part
}

// part is what one policy adds.
type part struct {
	enforce config.Enforce
	rules   []config.Rule
}

// Together is the law of policies, of which each may be nil or of no file. Where there is none at all, a policy's defaults hold, without rules.
func Together(policies ...*config.Policy) Law {
	law := Law{Commit: config.ModeOff, Push: config.ModeOff, Offline: config.ModeOff, Forks: config.ModeOff, Override: config.ForceAgents}
	found := slices.DeleteFunc(slices.Clone(policies), func(p *config.Policy) bool { return p == nil || !p.Found })
	if len(found) == 0 {
		found = []*config.Policy{{}}
	}
	for i, p := range found {
		if slices.ContainsFunc(found[:i], func(o *config.Policy) bool { return same(o, p) }) {
			continue
		}
		e := p.Enforce()
		law.Commit, law.Push = Stricter(law.Commit, e.Commit), Stricter(law.Push, e.Push)
		law.Offline, law.Forks = Stricter(law.Offline, e.Offline), Stricter(law.Forks, e.Forks)
		if e.Override != config.ForceAgents {
			law.Override = e.Override
		}
		law.parts = append(law.parts, part{e, p.Rules()})
	}
	return law
}

// same says whether two policies are one, as that of the work tree and that of the default branch mostly are: its rules are matched once.
func same(a, b *config.Policy) bool {
	return a == b || a.Data != nil && bytes.Equal(a.Data, b.Data)
}

// strictness orders the modes.
var strictness = []config.Mode{config.ModeOff, config.ModeWarn, config.ModeBlock}

// Stricter is the stricter of two modes. One that isn't known blocks.
func Stricter(a, b config.Mode) config.Mode { return strictness[max(rank(a), rank(b))] }

// Milder is the other one.
func Milder(a, b config.Mode) config.Mode { return strictness[min(rank(a), rank(b))] }

func rank(m config.Mode) int {
	if i := slices.Index(strictness, m); i >= 0 {
		return i
	}
	return len(strictness) - 1
}

// HasRules says whether any policy asks for claims.
func (l *Law) HasRules() bool {
	return slices.ContainsFunc(l.parts, func(p part) bool { return len(p.rules) > 0 })
}

// Exempt says whether no policy has anything to say of a ref, or of somebody of one of these names.
func (l *Law) Exempt(ref string, names ...string) bool {
	return !slices.ContainsFunc(l.parts, func(p part) bool { return !p.enforce.Exempts(ref, names...) })
}

// Needs are the claims that a change asks for, each once.
func (l *Law) Needs(c hooks.Change, ref string, names ...string) ([]hooks.Need, error) {
	return l.gather(ref, names, func(part) (hooks.Change, bool) { return c, true })
}

// NeedsOf are the claims that commits on a branch ask for, without the commits of authors who are exempt. A ref of which all are is left alone, one without
// commits isn't.
func (l *Law) NeedsOf(branch string, commits []hooks.Commit, ref string, names ...string) ([]hooks.Need, error) {
	return l.gather(ref, names, func(p part) (hooks.Change, bool) {
		judged := slices.DeleteFunc(slices.Clone(commits), func(c hooks.Commit) bool { return p.enforce.Exempts("", c.Author) })
		return hooks.ChangeOf(branch, judged), len(judged) > 0 || len(commits) == 0
	})
}

func (l *Law) gather(ref string, names []string, change func(part) (hooks.Change, bool)) ([]hooks.Need, error) {
	var all []hooks.Need
	for _, p := range l.parts {
		if len(p.rules) == 0 || p.enforce.Exempts(ref, names...) {
			continue
		}
		c, any := change(p)
		if !any {
			continue
		}
		needs, err := hooks.Needs(p.rules, c.Branch, c.Paths)
		if err != nil {
			return nil, err
		}
		for _, n := range needs {
			if !slices.ContainsFunc(all, func(o hooks.Need) bool { return sameNeed(o, n) }) {
				all = append(all, n)
			}
		}
	}
	return all, nil
}

// sameNeed says whether two needs ask for the same.
func sameNeed(a, b hooks.Need) bool {
	return a.Kind == b.Kind && a.Resource == b.Resource && (a.Kind != hooks.NeedPath || slices.Equal(a.Paths, b.Paths))
}
