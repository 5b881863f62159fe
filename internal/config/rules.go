package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/glob"
)

// The claims of a rule that are no resource.
const (
	// ClaimPath asks that every changed path is covered by a path claim.
	ClaimPath = "path"
	// ClaimAny asks for a claim, whichever it is.
	ClaimAny = "any"
)

// Rule asks for a claim of whoever changes what it is about: some branches, some paths, or some paths on some branches. The patterns are those of
// package glob, and were read without a fault.
type Rule struct {
	// Line is where the rule begins in the policy file, from 1; 0 where unknown.
	Line int
	// Branch is a pattern without refs/heads/; empty: every branch.
	Branch string
	// Paths are patterns; none: every path, and changes of none.
	Paths []string
	// Claim is [ClaimPath], [ClaimAny], or a resource, in which names in braces stand for what Branch captured.
	Claim string
}

// Rules are the policy's rules, in their order.
func (p *Policy) Rules() []Rule {
	rules := slices.Clone(p.rules)
	for i := range rules {
		rules[i].Paths = slices.Clone(rules[i].Paths)
	}
	return rules
}

const (
	maxRules    = 1000
	maxPatterns = 100 // of one rule

	wantRules  = "at most 1000 tables [[rule]]"
	wantBranch = `a pattern of branches such as "issue/{id}-*"`
	wantPaths  = `a list of at most 100 patterns such as "db/migrations/**"`
	wantClaim  = `"path", "any", or a whole key such as "github:acme/app#{id}"`
)

// takeRules reads the tables [[rule]].
func (p *Policy) takeRules(tree map[string]any, lines map[string]int) error {
	raw, ok := tree["rule"]
	if !ok {
		return nil
	}
	tables, ok := ruleTables(raw)
	if !ok {
		return &Error{Origin: policyOrigin(lines["rule"]), Key: "rule", Value: fmt.Sprint(raw), Want: wantRules}
	}
	for i, table := range tables {
		r := ruleReader{policy: p, table: table, at: element("rule", i), lines: lines}
		rule, err := r.read()
		if err != nil {
			return err
		}
		p.rules = append(p.rules, rule)
	}
	return nil
}

// ruleTables are the tables of an array, which the library gives in two ways.
func ruleTables(raw any) (tables []map[string]any, ok bool) {
	if list, ok := raw.([]any); ok {
		for _, one := range list {
			table, ok := one.(map[string]any)
			if !ok {
				return nil, false
			}
			tables = append(tables, table)
		}
		return tables, len(tables) <= maxRules
	}
	tables, ok = raw.([]map[string]any)
	return tables, ok && len(tables) <= maxRules
}

// ruleReader reads one rule.
type ruleReader struct {
	policy *Policy
	table  map[string]any
	// at is the rule's key in lines.
	at    string
	lines map[string]int
}

// origin is the line of one of the rule's keys, else of the rule.
func (r *ruleReader) origin(name string) Origin {
	for _, key := range []string{r.at + "." + name, r.at, "rule"} {
		if line := r.lines[key]; line > 0 {
			return policyOrigin(line)
		}
	}
	return policyOrigin(0)
}

func (r *ruleReader) bad(name, value, want string, err error) error {
	var pattern *glob.PatternError
	if errors.As(err, &pattern) {
		want += ": " + pattern.Err.Error()
	}
	return &Error{Origin: r.origin(name), Key: "rule." + name, Value: value, Want: want, Err: err}
}

func (r *ruleReader) read() (Rule, error) {
	rule := Rule{Line: r.origin("").Line}
	captured, err := r.readBranch(&rule)
	if err == nil {
		err = r.readPaths(&rule)
	}
	if err == nil {
		err = r.readClaim(&rule, captured)
	}
	if err != nil {
		return Rule{}, err
	}
	for _, name := range sortedKeys(r.table) {
		if name != "branch" && name != "paths" && name != "claim" {
			r.policy.Unknown = append(r.policy.Unknown, Unknown{Key: "rule." + name, Origin: r.origin(name)})
		}
	}
	if rule.Branch == "" && len(rule.Paths) == 0 {
		return Rule{}, &Error{Origin: r.origin(""), Key: "rule", Want: "branch or paths beside the claim", Value: rule.Claim}
	}
	return rule, nil
}

// readBranch reads the pattern of branches, and the names of what it captures.
func (r *ruleReader) readBranch(rule *Rule) (captured []string, err error) {
	raw, ok := r.table["branch"]
	if !ok {
		return nil, nil
	}
	text, ok := raw.(string)
	if !ok {
		return nil, r.bad("branch", fmt.Sprint(raw), wantBranch+", in quotes", nil)
	}
	rule.Branch = strings.TrimPrefix(text, "refs/heads/")
	pattern, err := glob.ParseBranch(rule.Branch)
	if err != nil {
		return nil, r.bad("branch", text, wantBranch, err)
	}
	return pattern.Names(), nil
}

func (r *ruleReader) readPaths(rule *Rule) (err error) {
	raw, ok := r.table["paths"]
	if !ok {
		return nil
	}
	if rule.Paths, ok = texts(raw, maxPatterns); !ok || len(rule.Paths) == 0 {
		return r.bad("paths", fmt.Sprint(raw), wantPaths, nil)
	}
	for _, text := range rule.Paths {
		if _, err := glob.ParsePaths([]string{text}); err != nil {
			return r.bad("paths", text, wantPaths, err)
		}
	}
	return nil
}

func (r *ruleReader) readClaim(rule *Rule, captured []string) error {
	raw := r.table["claim"]
	if raw == nil {
		raw = ""
	}
	text, ok := raw.(string)
	if !ok {
		return r.bad("claim", fmt.Sprint(raw), wantClaim, nil)
	}
	names, err := glob.Wanted(text)
	if err != nil {
		return r.bad("claim", text, wantClaim, err)
	}
	for _, name := range names {
		if !slices.Contains(captured, name) {
			return r.bad("claim", text, fmt.Sprintf("names in braces that branch captures, and not {%s}", name), nil)
		}
	}
	if text != ClaimPath && text != ClaimAny && !isWholeKey(text) {
		return r.bad("claim", text, wantClaim, nil)
	}
	rule.Claim = text
	return nil
}

// isWholeKey says whether a claim can be a resource: a scheme and what follows. A key that a tracker has still to complete is none, and neither is a
// pool, of which nobody could say which slot is meant.
func isWholeKey(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(".+-", r)
	}
	switch {
	case !ok || len(scheme) < 2 || scheme[0] < 'a' || scheme[0] > 'z' || strings.ContainsFunc(scheme, odd):
		return false
	case rest == "" || rest[0] == '#' || strings.HasPrefix(rest, "//") || scheme == "pool":
		return false
	}
	return !hasControl(s) && s == strings.TrimSpace(s) && len(s) <= maxClaim
}

// maxClaim bounds, in bytes, the claim of a rule, as a resource is bounded.
const maxClaim = 1024
