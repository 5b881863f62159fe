package fault

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/hooks/guard"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// maxFindings is how many findings people are told; programs get all.
const maxFindings = 10

type findingDetails struct {
	Kind     guard.Kind     `json:"kind"`
	Ref      string         `json:"ref,omitempty"`
	Rule     int            `json:"rule_line,omitempty"`
	Needs    hooks.NeedKind `json:"needs,omitempty"`
	Resource lease.Resource `json:"resource,omitempty"`
	Paths    []string       `json:"paths,omitempty"`
	Holder   *lease.Holder  `json:"holder,omitempty"`
	Until    string         `json:"expires_at,omitempty"`
	Why      string         `json:"why,omitempty"`
}

func tellGuard(f *Fault, err error, s Scene) {
	var e *guard.Error
	if !errors.As(err, &e) {
		return
	}
	details := make([]findingDetails, len(e.Findings))
	for i := range e.Findings {
		finding := &e.Findings[i]
		details[i] = detailsOf(finding, s)
		switch text := findingText(finding, e.Operation, s); {
		case i == 0:
			f.Message = text
		case i < maxFindings:
			f.Lines = append(f.Lines, text)
		case i == maxFindings:
			f.Lines = append(f.Lines, fmt.Sprintf("and %d more", len(e.Findings)-maxFindings))
		}
	}
	if e.Runtime != "" {
		f.Lines = append(f.Lines, fmt.Sprintf("WORKLEASE_OVERRIDE is for people, and this runs under %s", term.Clean(e.Runtime)))
	}
	f.Hint = guardHint(e, s)
	f.Details = map[string]any{"operation": e.Operation, "findings": details}
}

func detailsOf(f *guard.Finding, s Scene) findingDetails {
	d := findingDetails{Kind: f.Kind, Ref: f.Ref, Resource: f.Resource, Paths: f.Paths}
	if f.Need != nil {
		d.Needs, d.Rule = f.Need.Kind, f.Need.Rule.Line
	}
	if f.Rival != nil {
		d.Holder, d.Until = &f.Rival.Holder, stamp(f.Rival.Expires)
	}
	if f.Err != nil {
		d.Why = Explain(f.Err, s).Reason
	}
	return d
}

// findingText is one finding for people.
func findingText(f *guard.Finding, op guard.Operation, s Scene) string {
	switch f.Kind {
	case guard.KindRival:
		return fmt.Sprintf("%s %s claimed by %s", pathList(f.Paths), oneOrMore(f.Paths, "is", "are"), tenure(f.Rival, s))
	case guard.KindShort:
		return fmt.Sprintf("%s has %s left, and a %s asks for %s", term.Clean(string(f.Resource)), term.Span(f.Left), op, term.Span(f.Wanted))
	case guard.KindLost:
		return Explain(f.Err, s).Message
	case guard.KindUnsure:
		what := fmt.Sprintf("whether the %s is allowed", op)
		if len(f.Paths) > 0 && f.Need == nil {
			what = "whether others have claimed " + pathList(f.Paths)
		}
		return fmt.Sprintf("it can't be told %s: %s", what, Explain(f.Err, s).Message)
	default:
		return needText(f, s)
	}
}

// needText says what is missing.
func needText(f *guard.Finding, s Scene) string {
	who := "branch " + term.Clean(strings.TrimPrefix(f.Ref, "refs/heads/")) + " needs"
	if f.Need.Rule.Branch == "" {
		who = pathList(f.Paths) + oneOrMore(f.Paths, " needs", " need")
	}
	switch f.Need.Kind {
	case hooks.NeedAny:
		return who + " a claim, and you hold none"
	case hooks.NeedPath:
		if f.Need.Rule.Branch != "" {
			who += " for " + pathList(f.Paths)
		}
		return who + " a path claim, and you hold none that covers " + oneOrMore(f.Paths, "it", "them")
	}
	who += " " + term.Clean(string(f.Need.Resource)) + ", which "
	if f.Rival != nil {
		return who + "is held by " + tenure(f.Rival, s)
	}
	return who + "you do not hold"
}

// tenure names a holder, and says for how long and what for.
func tenure(r *guard.Rival, s Scene) string {
	text := Holder(r.Holder) + kinship(r.Holder, s.Self)
	if left := r.Expires.Sub(s.Now); left > 0 {
		text += fmt.Sprintf(" for %s more", term.Span(left))
	} else {
		text += fmt.Sprintf(", whose time is up since %s", term.Span(left))
	}
	if r.Purpose != "" {
		text += ": " + term.Clean(r.Purpose)
	}
	return text
}

// pathList names paths, the first few of many.
func pathList(paths []string) string {
	const shown = 3
	var names []string
	for _, path := range paths[:min(shown, len(paths))] {
		names = append(names, term.Clean(path))
	}
	list := strings.Join(names, ", ")
	if more := len(paths) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// oneOrMore is the word that goes with so many paths.
func oneOrMore(paths []string, one, more string) string {
	if len(paths) == 1 {
		return one
	}
	return more
}

// guardHint is what to do about the first finding; of claims that are missing, about all of them at once.
func guardHint(e *guard.Error, s Scene) string {
	first := &e.Findings[0]
	switch first.Kind {
	case guard.KindRival:
		return fmt.Sprintf("take other work, or look again with `git worklease status %s`", Quote(string(first.Resource)))
	case guard.KindShort:
		return fmt.Sprintf("`git worklease renew %s`", Quote(string(first.Resource)))
	case guard.KindLost, guard.KindUnsure:
		return Explain(first.Err, s).Hint
	}
	if first.Rival != nil {
		return fmt.Sprintf("take other work, or look again with `git worklease status %s`", Quote(string(first.Resource)))
	}
	keys := missingKeys(e.Findings)
	if len(keys) == 0 {
		return "`git worklease claim KEY`, where KEY is what you work on"
	}
	return "`git worklease claim " + strings.Join(keys, " ") + "`"
}

// missingKeys are what would have to be claimed, quoted for a shell, as many as one claim can have.
func missingKeys(findings []guard.Finding) []string {
	var keys []string
	seen := map[string]bool{}
	add := func(key string) {
		if !seen[key] && len(keys) < lease.MaxMembers {
			seen[key] = true
			keys = append(keys, Quote(key))
		}
	}
	for i := range findings {
		f := &findings[i]
		switch {
		case f.Kind != guard.KindNeed || f.Rival != nil:
		case f.Need.Kind == hooks.NeedKey:
			add(string(f.Need.Resource))
		case f.Need.Kind == hooks.NeedPath:
			for _, path := range f.Paths {
				if r, err := lease.PathResource(path); err == nil {
					add(string(r))
				}
			}
		}
	}
	return keys
}
