package config

import (
	"fmt"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// Source is the kind of place that a value comes from. Its zero value is the default.
type Source int

// The sources, weakest first.
const (
	SourceDefault Source = iota
	SourcePolicy
	SourceGit
	SourceEnv
	SourceFlag
)

// Origin says where a value comes from.
type Origin struct {
	Source Source
	// Name is the flag with its dashes, the variable, the file of the policy, or for git's configuration its scope and origin.
	Name string
	// Line is the line of the policy file, from 1; 0 where unknown.
	Line int
}

// String is for people: "flag --ttl", "env WORKLEASE_TTL", "git config (global) file:/home/a/.gitconfig",
// "policy .worklease.toml:12", "default".
func (o Origin) String() string {
	switch o.Source {
	case SourceFlag:
		return "flag " + o.Name
	case SourceEnv:
		return "env " + o.Name
	case SourceGit:
		return "git config " + o.Name
	case SourcePolicy:
		if o.Line > 0 {
			return fmt.Sprintf("policy %s:%d", o.Name, o.Line)
		}
		return "policy " + o.Name
	default:
		return "default"
	}
}

// IsDefault says that nobody set the value.
func (o Origin) IsDefault() bool { return o.Source == SourceDefault }

func gitOrigin(s gitexec.Setting) Origin {
	return Origin{Source: SourceGit, Name: fmt.Sprintf("(%s) %s", s.Scope, s.Origin)}
}
