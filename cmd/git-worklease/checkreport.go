package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/hooks/check"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// checkJSON is what was checked, for programs.
type checkJSON struct {
	Mode    config.Mode `json:"mode"`
	Branch  string      `json:"branch,omitempty"`
	Commits int         `json:"commits"`
	// Findings are of what the rules ask something of.
	Findings []findingJSON `json:"findings"`
}

type findingJSON struct {
	Commit    string        `json:"commit,omitempty"`
	Verdict   check.Verdict `json:"verdict"`
	Missing   []needJSON    `json:"missing,omitempty"`
	Faults    []string      `json:"faults,omitempty"`
	Overrides []string      `json:"overrides,omitempty"`
}

// needJSON is a claim that is asked for.
type needJSON struct {
	Kind     hooks.NeedKind `json:"kind"`
	Resource lease.Resource `json:"resource,omitempty"`
	Paths    []string       `json:"paths,omitempty"`
	// Rule is the line of the policy file.
	Rule int `json:"rule"`
}

func newCheckJSON(c *checked) checkJSON {
	j := checkJSON{Mode: c.mode, Branch: c.branch, Commits: len(c.commits), Findings: []findingJSON{}}
	for i := range c.findings {
		f := &c.findings[i]
		one := findingJSON{Commit: f.Commit.ID, Verdict: f.Verdict, Faults: f.Faults, Overrides: f.Commit.Overrides}
		for _, n := range f.Open {
			one.Missing = append(one.Missing, needJSON{Kind: n.Kind, Resource: n.Resource, Paths: n.Paths, Rule: n.Rule.Line})
		}
		j.Findings = append(j.Findings, one)
	}
	return j
}

// checkOutcome is what a check ends in.
func (a *app) checkOutcome(o checkOptions, c *checked) *outcome {
	out := &outcome{result: newCheckJSON(c), text: func(p *printer) { printCheck(p, c) }}
	if o.format == formatGitHub {
		out.text = func(p *printer) { printAnnotations(p, c) }
	}
	if c.mode == config.ModeBlock {
		out.failure = c.failure()
	}
	return out
}

// failure is the error for what is missing; nil where nothing is.
func (c *checked) failure() error {
	missing, refused, doubtful := &fault.NotCoveredError{}, 0, 0
	for i := range c.findings {
		f := &c.findings[i]
		switch f.Verdict {
		case check.Refused:
			refused++
			addMissing(missing, f.Open)
		case check.CannotTell:
			doubtful++
		case check.Covered, check.Overridden:
		}
	}
	switch {
	case c.rivals != nil && len(c.findings[0].Open) == 0:
		return c.rivals
	case refused > 0 && !c.staged:
		missing.Commits = refused
		return missing
	case refused > 0:
		return missing
	case doubtful > 0:
		return fmt.Errorf("%s: %w", plural(doubtful, "commit"), fault.ErrPastGone)
	}
	return nil
}

// maxMissing bounds what is collected for a hint that names a few.
const maxMissing = 10

func addMissing(missing *fault.NotCoveredError, open []hooks.Need) {
	for _, n := range open {
		if n.Kind == hooks.NeedKey && !slices.Contains(missing.Resources, n.Resource) && len(missing.Resources) < maxMissing {
			missing.Resources = append(missing.Resources, n.Resource)
		}
		for _, path := range n.Paths {
			if n.Kind == hooks.NeedPath && !slices.Contains(missing.Paths, path) && len(missing.Paths) < maxMissing {
				missing.Paths = append(missing.Paths, path)
			}
		}
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// lacks says in words what a finding lacks for one need.
func (c *checked) lacks(n hooks.Need) string {
	verb := "it names"
	if c.staged {
		verb = "this session has"
	}
	switch n.Kind {
	case hooks.NeedKey:
		return fmt.Sprintf("%s no claim of %s", verb, term.Clean(string(n.Resource)))
	case hooks.NeedPath:
		return fmt.Sprintf("%s no path claim that covers %s", verb, fault.Some(n.Paths))
	default:
		return verb + " no claim"
	}
}

// what is the subject of a finding.
func (c *checked) what(f *check.Finding) string {
	if c.staged {
		return "what is staged"
	}
	return "commit " + f.Commit.ID[:min(12, len(f.Commit.ID))]
}

func printCheck(p *printer, c *checked) {
	for i := range c.findings {
		f := &c.findings[i]
		if f.Verdict == check.Covered {
			continue
		}
		p.printf("%s %s\n", p.palette.Paint(verdictStyle(f.Verdict, c.mode), string(f.Verdict)), c.what(f))
		for _, n := range f.Open {
			p.printf("  %s (%s)\n", c.lacks(n), ruleAt(n))
		}
		for _, text := range f.Faults {
			p.printf("  %s\n", term.Clean(text))
		}
		for _, reason := range f.Commit.Overrides {
			p.printf("  override: %s\n", term.Clean(reason))
		}
	}
	p.printf("%s\n", c.summary())
}

func verdictStyle(v check.Verdict, mode config.Mode) term.Style {
	if v == check.Refused && mode == config.ModeBlock {
		return term.Bad
	}
	return term.Warn
}

func ruleAt(n hooks.Need) string {
	return fmt.Sprintf("%s:%d", config.PolicyFile, n.Rule.Line)
}

// summary is the last line: what was looked at, and whether it counts.
func (c *checked) summary() string {
	counts := map[check.Verdict]int{}
	for i := range c.findings {
		counts[c.findings[i].Verdict]++
	}
	missing := counts[check.Refused] + counts[check.CannotTell]
	var text string
	switch {
	case c.mode == config.ModeOff:
		return "not checked: " + c.setting + " is off"
	case len(c.findings) == 0 && c.staged:
		return "no rule asks for a claim of what is staged"
	case len(c.findings) == 0:
		return fmt.Sprintf("%s, of which no rule asks for a claim", plural(len(c.commits), "commit"))
	case c.rivals != nil && len(c.findings[0].Open) == 0:
		text = "what is staged is claimed by another"
	case c.staged && missing == 0:
		return "what is staged is covered"
	case c.staged:
		text = "what is staged is not covered"
	default:
		text = fmt.Sprintf("%s, %d with a claim to name: %d covered", plural(len(c.commits), "commit"), len(c.findings), counts[check.Covered])
		for _, v := range []check.Verdict{check.Refused, check.CannotTell, check.Overridden} {
			if counts[v] > 0 {
				text += fmt.Sprintf(", %d %s", counts[v], v)
			}
		}
	}
	if c.mode == config.ModeWarn && missing > 0 {
		text += "; a warning, since " + c.setting + " is warn"
	}
	return text
}

// printAnnotations prints what GitHub shows beside the lines of a pull request.
func printAnnotations(p *printer, c *checked) {
	for i := range c.findings {
		f := &c.findings[i]
		if f.Verdict == check.Covered {
			continue
		}
		level := "warning"
		if c.mode == config.ModeBlock && f.Verdict != check.Overridden {
			level = "error"
		}
		faults := ""
		for _, text := range f.Faults {
			faults += "; " + term.Clean(text)
		}
		for _, reason := range f.Commit.Overrides {
			faults += "; override: " + term.Clean(reason)
		}
		for _, n := range f.Open {
			file, line := config.PolicyFile, n.Rule.Line
			if len(n.Paths) > 0 {
				file, line = term.Clean(n.Paths[0]), 1
			}
			p.printf("::%s file=%s,line=%d,title=%s::%s\n", level, property(file), max(line, 1), property("git worklease: "+string(f.Verdict)),
				message(c.what(f)+": "+c.lacks(n)+" ("+ruleAt(n)+")"+faults))
		}
		if len(f.Open) == 0 && c.rivals != nil {
			p.printf("::%s file=%s,line=1,title=%s::%s\n", level, property(term.Clean(c.rivals.Findings[0].Paths[0])), property("git worklease: "+string(f.Verdict)),
				message(c.what(f)+": "+strings.TrimPrefix(faults, "; ")))
		}
	}
	p.printf("%s\n", c.summary())
}

// message and property escape what GitHub would read as its own.
func message(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
