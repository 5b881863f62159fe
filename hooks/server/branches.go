package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

const heads = "refs/heads/"

// hintFenced is how a branch moves together with its claim.
const hintFenced = "claim it, and push with `git worklease push`"

// errPolicy is about a policy of the default branch that can't be read.
var errPolicy = errors.New("the policy of the default branch can't be used")

// judgeBranches judges what the policy of the default branch covers.
func (j *judge) judgeBranches(updates []update) error {
	if len(updates) == 0 {
		return nil
	}
	policy, err := j.policyOf(j.tips[j.head])
	if err != nil {
		return j.withoutPolicy(updates, err)
	}
	if err := j.keepPolicy(updates); err != nil {
		return err
	}
	if rules := policy.Rules(); len(rules) > 0 && policy.Enforce().Push != config.ModeOff {
		for _, u := range updates {
			if err := j.judgeBranch(u, policy.Enforce(), rules); err != nil {
				return fmt.Errorf("%s: %w", u.ref, err)
			}
		}
	}
	return nil
}

// policyOf reads the policy of a commit; one that has none is empty, and so is that of no commit.
func (j *judge) policyOf(commit refstore.OID) (*config.Policy, error) {
	if commit.IsZero() {
		return &config.Policy{}, nil
	}
	file, err := j.objects.read(string(commit)+":"+config.PolicyFile, maxFile)
	switch {
	case err != nil:
		return nil, err
	case file.id.IsZero():
		return &config.Policy{}, nil
	case file.kind != "blob" || file.content == nil:
		return nil, fmt.Errorf("%s: a %s, or too large", config.PolicyFile, file.kind)
	}
	policy, err := config.ParsePolicy(file.content)
	if err == nil {
		err = policy.Check(j.Version)
	}
	return policy, err
}

// keepPolicy refuses a policy of the default branch that can't be used: with it, no branch could be pushed any more.
func (j *judge) keepPolicy(updates []update) error {
	for _, u := range updates {
		if u.next.IsZero() || !j.isDefault(u.ref) {
			continue
		}
		if _, err := j.policyOf(u.next); errors.Is(err, config.ErrConfig) || errors.Is(err, config.ErrRequires) {
			j.refuse(u.ref, fmt.Errorf("%w: %w", errPolicy, err), "")
		} else if err != nil {
			return err
		}
	}
	return nil
}

// withoutPolicy refuses whatever a policy that can't be used may cover, but the default branch itself, where what is pushed has one that can.
func (j *judge) withoutPolicy(updates []update, why error) error {
	for _, u := range updates {
		if !u.next.IsZero() && j.isDefault(u.ref) {
			if _, err := j.policyOf(u.next); err == nil {
				continue
			}
		}
		j.refuse(u.ref, fmt.Errorf("%w: %w", errPolicy, why), "push a "+config.PolicyFile+" that can be used to the default branch")
	}
	return nil
}

func (j *judge) isDefault(ref string) bool { return j.head == ref }

// judgeBranch judges one branch.
func (j *judge) judgeBranch(u update, enforce config.Enforce, rules []config.Rule) error {
	was := j.tips[u.ref]
	if was == u.next || enforce.Exempts(u.ref, j.User) {
		return nil
	}
	m := &move{judge: j, enforce: enforce, ref: u.ref, branch: strings.TrimPrefix(u.ref, heads), was: was, next: u.next}
	needs, err := m.needs(rules)
	if errors.Is(err, lease.ErrBadResource) {
		j.refuse(u.ref, err, "")
		return nil
	}
	if err != nil {
		return err
	}
	open := hooks.Open(needs, j.held)
	if u.next.IsZero() {
		if open, err = j.inUse(open); err != nil {
			return err
		}
	}
	switch r := (Refusal{Ref: u.ref, Err: &NotCoveredError{Branch: m.branch, Open: open}, Hint: hintFenced}); {
	case len(open) > 0 && enforce.Push == config.ModeBlock:
		j.verdict.Refusals = append(j.verdict.Refusals, r)
	case len(open) > 0:
		j.verdict.Warnings = append(j.verdict.Warnings, r)
	case len(needs) > 0 && j.byHand && enforce.Push == config.ModeBlock:
		j.verdict.Fenced = append(j.verdict.Fenced, u.ref)
	}
	return nil
}

// inUse are the needs of a deletion that anybody stands in the way of: a branch whose work is claimed is not to be deleted by another, and one that nobody
// claims may go.
func (j *judge) inUse(open []hooks.Need) ([]hooks.Need, error) {
	var inUse []hooks.Need
	for _, n := range open {
		if n.Kind != hooks.NeedKey {
			continue
		}
		name := j.Settings.Prefix + "claims/" + lease.EncodeName(string(n.Resource))
		tips, err := readTips(j.ctx, j.Git, name)
		if err != nil {
			return nil, err
		}
		if tips[name].IsZero() {
			continue
		}
		ref, err := j.objects.record(name, string(tips[name]))
		if err != nil {
			return nil, err
		}
		rec, err := lease.ReadRecord(j.Settings.Prefix, name, ref.Commit)
		if ref.Err != nil || err != nil || !rec.Released() && j.Now.Before(rec.Until()) {
			inUse = append(inUse, n)
		}
	}
	return inUse, nil
}

// move is how a branch moves.
type move struct {
	*judge
	enforce     config.Enforce
	ref, branch string
	was, next   refstore.OID
}

// needs are what the rules ask for. A rule about all branches is asked about what is new to all of them, since whatever came to any has been
// judged by it then, unless the branch is exempt. One about some branches is asked about all that comes to this one: it may have come to another before, to which it does
// not apply.
func (m *move) needs(rules []config.Rule) ([]hooks.Need, error) {
	var everywhere, here []config.Rule
	for _, r := range rules {
		switch {
		case r.Branch != "" && (len(r.Paths) == 0 && r.Claim != config.ClaimPath || !m.next.IsZero()):
			here = append(here, r)
		case r.Branch == "" && !m.next.IsZero():
			everywhere = append(everywhere, r)
		}
	}
	needs, err := m.asked(here, func() ([]hooks.Commit, error) { return m.commits(m.next, m.was) })
	if err != nil {
		return nil, err
	}
	more, err := m.asked(everywhere, func() ([]hooks.Commit, error) {
		judged, err := m.judgedTips()
		if err != nil {
			return nil, err
		}
		return hooks.CommitsBeyond(m.ctx, m.Git, string(m.next), judged)
	})
	return append(needs, more...), err
}

// judgedTips are the tips of all branches that are not exempt.
func (m *move) judgedTips() ([]string, error) {
	tips, err := readTips(m.ctx, m.Git, heads)
	if err != nil {
		return nil, err
	}
	var judged []string
	for ref, tip := range tips {
		if !m.enforce.Exempts(ref) {
			judged = append(judged, string(tip))
		}
	}
	return judged, nil
}

// asked are what some rules ask for because of what comes to the branch, and because of what is taken away from it.
func (m *move) asked(rules []config.Rule, coming func() ([]hooks.Commit, error)) ([]hooks.Need, error) {
	mayMatter := slices.ContainsFunc(rules, func(r config.Rule) bool {
		if len(r.Paths) == 0 && r.Claim != config.ClaimPath {
			return false
		}
		about := r
		about.Paths, about.Claim = nil, config.ClaimAny
		needs, err := hooks.Needs([]config.Rule{about}, m.branch, nil)
		return err != nil || len(needs) > 0
	})
	var commits []hooks.Commit
	if mayMatter {
		var err error
		if commits, err = coming(); err != nil {
			return nil, err
		}
		if !m.was.IsZero() {
			gone, err := m.commits(m.was, m.next)
			if err != nil {
				return nil, err
			}
			commits = append(commits, gone...)
		}
	}
	return hooks.Needs(rules, m.branch, hooks.ChangeOf(m.branch, commits).Paths)
}

// commits are those of one tip that another has not, nor the default branch, unless it is the one that moves.
func (m *move) commits(tip, other refstore.OID) ([]hooks.Commit, error) {
	revisions := []string{string(tip)}
	if !other.IsZero() {
		revisions = append(revisions, "^"+string(other))
	}
	if head := m.tips[m.head]; !m.isDefault(m.ref) && !head.IsZero() {
		revisions = append(revisions, "^"+string(head))
	}
	return hooks.Commits(m.ctx, m.Git, revisions...)
}
