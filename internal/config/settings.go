package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// Value is a setting's value with its origin.
type Value[T any] struct {
	V      T
	Origin Origin
}

// TakeoverRule says when an expired claim may be taken.
type TakeoverRule string

// The rules for taking over.
const (
	TakeoverStale TakeoverRule = "stale"
	TakeoverDead  TakeoverRule = "dead"
)

// ExpiryRule says how expiry is judged.
type ExpiryRule string

// The rules of expiry.
const (
	ExpiryClock    ExpiryRule = "clock"
	ExpiryObserved ExpiryRule = "observed"
)

// ForceRule says who may end the claims of others by force.
type ForceRule string

// The rules of force.
const (
	ForcePeople ForceRule = "people"
	ForceAgents ForceRule = "agents"
)

// TransportRule says how the remote is spoken to.
type TransportRule string

// The transports.
const (
	TransportAuto TransportRule = "auto"
	TransportGit  TransportRule = "git"
)

// Settings are the values that hold. What nobody set and the table has no default for is zero, with the default's origin.
type Settings struct {
	// TTL and Grace are whole seconds. A Grace that nobody set depends on the server.
	TTL, Grace Value[time.Duration]
	Takeover   Value[TakeoverRule]
	Expiry     Value[ExpiryRule]
	Force      Value[ForceRule]
	// Retention is whole seconds, from a day to ten years.
	Retention Value[time.Duration]
	Remote    Value[string]
	Authority Value[string]
	// Prefix ends with a slash.
	Prefix                         Value[string]
	Agent, Host, Operator, Session Value[string]
	StateDir                       Value[string]
	// SSHPersist is 0 where the shared connection is turned off.
	SSHPersist Value[time.Duration]
	Transport  Value[TransportRule]
	Timeout    Value[time.Duration]

	// Pools are those of the policy, by name.
	Pools []Pool
	// Unknown are the keys of git's configuration and of the policy that no setting has.
	Unknown []Unknown

	shown, enforce []Shown
}

// Shown is a setting as it is printed.
type Shown struct {
	Name Name
	// Value is the value as it was written; empty where it isn't set.
	Value  string
	Origin Origin
	// Bad says why the value can't be used; nil where it can.
	Bad *Error
}

// All are the settings as they are printed, in the table's order, and after them how strictly the policy's rules hold, and the pools.
func (s *Settings) All() []Shown {
	all := slices.Concat(s.shown, s.enforce)
	for _, p := range s.Pools {
		all = append(all, Shown{Name: Name("pools." + p.Name), Value: strconv.Itoa(p.Slots), Origin: p.Origin})
	}
	return all
}

// Sources are where settings are read from. Each may be nil.
type Sources struct {
	// Flags are the flags that were given, by their long name.
	Flags map[string]string
	// Getenv reads the environment; an empty variable counts as not set.
	Getenv func(string) string
	// Git is git's configuration.
	Git *gitexec.Config
	// Policy is the policy file.
	Policy *Policy
}

// Load finds the value of each setting. It returns an [*Error] for the first value that can't be used, and beside it settings that are good for
// nothing but to be shown. Only the
// strongest source of a setting is looked at, so that a bad value can be overridden from the command line.
func Load(from Sources) (*Settings, error) {
	s := &Settings{}
	var bad error
	for _, spec := range Specs() {
		text, key, origin := from.find(spec)
		shown := Shown{Name: spec.Name, Value: text, Origin: origin}
		if (text != "" || !origin.IsDefault()) && (text == "" || !spec.set(s, text, origin)) {
			shown.Bad = &Error{Origin: origin, Key: key, Value: text, Want: spec.Want}
			if bad == nil {
				bad = shown.Bad
			}
		}
		s.shown = append(s.shown, shown)
	}
	s.Unknown = unknownGitKeys(from.Git)
	policy := from.Policy
	if policy == nil {
		policy = &Policy{}
	}
	s.Unknown = append(s.Unknown, policy.Unknown...)
	s.Pools, s.enforce = policy.pools, policy.shownEnforce()
	return s, bad
}

// find is the strongest source's text for a setting, and how that source calls it.
func (from Sources) find(spec Spec) (text, key string, origin Origin) {
	if text, ok := from.Flags[spec.Flag]; ok && spec.Flag != "" {
		return text, "--" + spec.Flag, Origin{Source: SourceFlag, Name: "--" + spec.Flag}
	}
	if spec.Env != "" && from.Getenv != nil {
		if text := from.Getenv(spec.Env); text != "" {
			return text, spec.Env, Origin{Source: SourceEnv, Name: spec.Env}
		}
	}
	if spec.Git != "" && from.Git != nil {
		if found, ok := from.Git.Get(strings.ToLower(spec.Git)); ok {
			return found.Value, spec.Git, gitOrigin(found)
		}
	}
	if spec.Policy != "" && from.Policy != nil {
		if found, ok := from.Policy.values[spec.Policy]; ok {
			return found.text, spec.Policy, found.origin
		}
	}
	return spec.Default, string(spec.Name), Origin{}
}

// unknownGitKeys are the keys below worklease. that no setting has. Deeper ones (worklease.x.y) are unknown as well.
func unknownGitKeys(git *gitexec.Config) []Unknown {
	if git == nil {
		return nil
	}
	specs := Specs()
	var unknown []Unknown
	for _, s := range git.WithPrefix("worklease.") {
		known := slices.ContainsFunc(specs, func(spec Spec) bool { return strings.ToLower(spec.Git) == s.Key })
		if !known {
			unknown = append(unknown, Unknown{Key: s.Key, Origin: gitOrigin(s)})
		}
	}
	return unknown
}
