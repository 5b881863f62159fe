package config

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says what a guard does about what the policy forbids.
type Mode string

// The modes.
const (
	ModeOff   Mode = "off"   // nothing
	ModeWarn  Mode = "warn"  // says so, and lets it pass
	ModeBlock Mode = "block" // refuses
)

// Enforce says how strictly the rules hold.
type Enforce struct {
	// Commit and Push are what a commit and a push do that a rule forbids. Offline is what a commit does that can't tell, and Forks what a push
	// does to a remote that is not the authority's.
	Commit, Push, Offline, Forks Mode
	// Override says who may pass by WORKLEASE_OVERRIDE.
	Override ForceRule
	// Exempt are patterns of refs, which begin with refs/, and names of people and programs for whom no rule holds.
	Exempt []string
}

// defaultEnforce holds where the policy says nothing else.
func defaultEnforce() Enforce {
	return Enforce{Commit: ModeWarn, Push: ModeBlock, Offline: ModeWarn, Forks: ModeWarn, Override: ForcePeople}
}

// Enforce is the section [enforce], with the defaults for what it leaves out: a commit warns, a push blocks, doubt and forks warn, people may override.
func (p *Policy) Enforce() Enforce {
	if p.enforce == nil {
		return defaultEnforce()
	}
	e := *p.enforce
	e.Exempt = slices.Clone(e.Exempt)
	return e
}

// shownEnforce is the section as it is printed, defaults included.
func (p *Policy) shownEnforce() []Shown {
	e := p.Enforce()
	all := []Shown{
		{Name: "enforce.commit", Value: string(e.Commit)}, {Name: "enforce.push", Value: string(e.Push)},
		{Name: "enforce.offline", Value: string(e.Offline)}, {Name: "enforce.forks", Value: string(e.Forks)},
		{Name: "enforce.override", Value: string(e.Override)}, {Name: "enforce.exempt", Value: strings.Join(e.Exempt, ", ")},
	}
	for i := range all {
		all[i].Origin = p.enforceAt[string(all[i].Name)]
	}
	return all
}

const (
	wantMode     = "off, warn or block, in quotes"
	wantOverride = "people or agents, in quotes"
	wantExempt   = `a list of names and of refs such as "refs/heads/release/*"`
)

// maxExempt bounds the list of exemptions.
const maxExempt = 1000

// takeEnforce reads the section [enforce].
func (p *Policy) takeEnforce(tree map[string]any, lines map[string]int) error {
	raw, ok := tree["enforce"]
	if !ok {
		return nil
	}
	table, ok := raw.(map[string]any)
	if !ok {
		return &Error{Origin: policyOrigin(lines["enforce"]), Key: "enforce", Value: fmt.Sprint(raw), Want: "a table"}
	}
	e := defaultEnforce()
	p.enforceAt = map[string]Origin{}
	for _, name := range sortedKeys(table) {
		key := "enforce." + name
		origin := policyOrigin(lines[key])
		want, known := e.set(name, table[name])
		switch {
		case !known:
			p.Unknown = append(p.Unknown, Unknown{Key: key, Origin: origin})
		case want != "":
			return &Error{Origin: origin, Key: key, Value: fmt.Sprint(table[name]), Want: want}
		default:
			p.enforceAt[key] = origin
		}
	}
	p.enforce = &e
	return nil
}

// set reads one key. What is wanted is empty where the value is good.
func (e *Enforce) set(name string, value any) (want string, known bool) {
	modes := map[string]*Mode{"commit": &e.Commit, "push": &e.Push, "offline": &e.Offline, "forks": &e.Forks}
	text, _ := value.(string)
	switch mode := modes[name]; {
	case mode != nil:
		if *mode = Mode(text); !slices.Contains([]Mode{ModeOff, ModeWarn, ModeBlock}, *mode) {
			want = wantMode
		}
	case name == "override":
		if e.Override = ForceRule(text); e.Override != ForcePeople && e.Override != ForceAgents {
			want = wantOverride
		}
	case name == "exempt":
		if e.Exempt, known = texts(value, maxExempt); !known || !allExempt(e.Exempt) {
			want = wantExempt
		}
	default:
		return "", false
	}
	return want, true
}

// texts reads a list of at most limit texts.
func texts(value any, limit int) (list []string, ok bool) {
	raw, ok := value.([]any)
	if !ok || len(raw) > limit {
		return nil, false
	}
	for _, one := range raw {
		text, ok := one.(string)
		if !ok {
			return nil, false
		}
		list = append(list, text)
	}
	return list, true
}
