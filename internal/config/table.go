package config

import (
	"path/filepath"
	"slices"
	"time"
)

// Name is a setting's name, as `config show` prints it.
type Name string

// The settings.
const (
	TTL        Name = "ttl"
	Grace      Name = "grace"
	Takeover   Name = "takeover"
	Expiry     Name = "expiry"
	Force      Name = "force"
	Retention  Name = "retention"
	Remote     Name = "remote"
	Authority  Name = "authority"
	Prefix     Name = "prefix"
	Agent      Name = "agent"
	Host       Name = "host"
	Operator   Name = "operator"
	Session    Name = "session"
	StateDir   Name = "stateDir"
	SSHPersist Name = "sshPersist"
	Transport  Name = "transport"
	Timeout    Name = "timeout"
)

// Spec is a setting: where it may be set, and what it may be.
type Spec struct {
	Name Name
	// Flag is the long flag without dashes, Env the variable, Git the key of git's configuration, Policy that of the policy
	// file. Each is empty where the source can't set it.
	Flag, Env, Git, Policy string
	// Default is the default as one would write it; empty where there is none, or where it depends on the command.
	Default string
	// Want describes the values, to follow "want".
	Want string
	// Help is one line for people.
	Help string

	// set parses text into its field, and says whether it could.
	set func(s *Settings, text string, o Origin) bool
}

// The limits of durations.
const (
	minTTL, maxTTL         = 10 * time.Second, 24 * time.Hour
	maxGrace               = time.Hour
	minRetention           = day
	maxRetention           = 3650 * day
	minTimeout, maxTimeout = time.Second, time.Hour
	maxPersist             = 24 * time.Hour
)

const wantName = "1 to 128 bytes of UTF-8 without control characters"

// Specs is the table of all settings, in the order in which they are shown.
func Specs() []Spec {
	return slices.Concat(leaseSpecs(), placeSpecs(), nameSpecs(), wireSpecs())
}

// leaseSpecs are the settings of claims.
func leaseSpecs() []Spec {
	return []Spec{
		{
			Name: TTL, Flag: "ttl", Env: "WORKLEASE_TTL", Git: "worklease.ttl", Policy: "lease.ttl", Default: "2h",
			Want: "whole seconds from 10s to 24h, with a unit", Help: "how long a claim holds unless it is renewed",
			set: duration(func(s *Settings) *Value[time.Duration] { return &s.TTL }, minTTL, maxTTL),
		},
		{
			Name: Grace, Flag: "grace", Env: "WORKLEASE_GRACE", Git: "worklease.grace", Policy: "lease.grace",
			Want: "whole seconds from 0s to 1h, with a unit", Help: "how long others wait after that at least (by default 30s where the server tells its time, else 5m), and how long this command waits for others",
			set: duration(func(s *Settings) *Value[time.Duration] { return &s.Grace }, 0, maxGrace),
		},
		{
			Name: Takeover, Flag: "takeover", Env: "WORKLEASE_TAKEOVER", Git: "worklease.takeover", Policy: "lease.takeover", Default: "stale",
			Want: "stale or dead", Help: "when others may take an expired claim",
			set: choice(func(s *Settings) *Value[TakeoverRule] { return &s.Takeover }, TakeoverStale, TakeoverDead),
		},
		{
			Name: Expiry, Flag: "expiry", Env: "WORKLEASE_EXPIRY", Git: "worklease.expiry", Policy: "lease.expiry", Default: "clock",
			Want: "clock or observed", Help: "whether expiry is judged by clocks, or by what this clone has seen",
			set: choice(func(s *Settings) *Value[ExpiryRule] { return &s.Expiry }, ExpiryClock, ExpiryObserved),
		},
		{
			Name: Force, Git: "worklease.force", Policy: "lease.force", Default: "people",
			Want: "people or agents", Help: "who may end the claims of others by force: people alone, or agents as well",
			set: choice(func(s *Settings) *Value[ForceRule] { return &s.Force }, ForcePeople, ForceAgents),
		},
		{
			Name: Retention, Flag: "retention", Env: "WORKLEASE_RETENTION", Git: "worklease.retention", Policy: "lease.retention", Default: "90d",
			Want: "1d to 3650d, with a unit", Help: "how long the tombstone of a released claim is kept",
			set: duration(func(s *Settings) *Value[time.Duration] { return &s.Retention }, minRetention, maxRetention),
		},
	}
}

// placeSpecs are the settings of where claims live.
func placeSpecs() []Spec {
	return []Spec{
		{
			Name: Remote, Flag: "remote", Env: "WORKLEASE_REMOTE", Git: "worklease.remote", Policy: "remote",
			Want: "a remote's name, or a URL", Help: "the remote that holds the claims",
			set: text(func(s *Settings) *Value[string] { return &s.Remote }, func(s string, o Origin) bool {
				return o.Source != SourcePolicy && !hasControl(s) && s[0] != '-' || trustedRemote(s)
			}),
		},
		{
			Name: Authority, Env: "WORKLEASE_AUTHORITY", Git: "worklease.authority", Policy: "authority",
			Want: "1 to 64 lower-case hexadecimal digits", Help: "the ID of the authority at the remote; where none is named, the first claim creates one",
			set: text(func(s *Settings) *Value[string] { return &s.Authority }, func(s string, _ Origin) bool { return isAuthority(s) }),
		},
		{
			Name: Prefix, Env: "WORKLEASE_PREFIX", Git: "worklease.prefix", Policy: "prefix", Default: "refs/worklease/",
			Want: "a ref prefix such as refs/worklease/, of its own and ending with a slash", Help: "where the claims' refs are",
			set: text(func(s *Settings) *Value[string] { return &s.Prefix }, func(s string, _ Origin) bool { return IsPrefix(s) }),
		},
	}
}

// nameSpecs are the settings of who claims.
func nameSpecs() []Spec {
	return []Spec{
		{
			Name: Agent, Flag: "agent", Env: "WORKLEASE_AGENT", Git: "worklease.agent",
			Want: wantName, Help: "stable name of the person or program; else the login name",
			set: text(func(s *Settings) *Value[string] { return &s.Agent }, name),
		},
		{
			Name: Host, Env: "WORKLEASE_HOST", Git: "worklease.host",
			Want: wantName, Help: "name of this machine in claims; else the host name",
			set: text(func(s *Settings) *Value[string] { return &s.Host }, name),
		},
		{
			Name: Operator, Flag: "operator", Env: "WORKLEASE_OPERATOR", Git: "worklease.operator",
			Want: wantName, Help: "who answers for the agent",
			set: text(func(s *Settings) *Value[string] { return &s.Operator }, name),
		},
		{
			Name: Session, Flag: "session", Env: "WORKLEASE_SESSION",
			Want: wantName, Help: "name of this run; else the agent runtime's own, else the worktree's",
			set: text(func(s *Settings) *Value[string] { return &s.Session }, name),
		},
	}
}

// wireSpecs are the settings of this clone and its way to the remote.
func wireSpecs() []Spec {
	return []Spec{
		{
			Name: StateDir, Env: "WORKLEASE_STATE_DIR", Git: "worklease.stateDir",
			Want: "an absolute path", Help: "where this clone keeps its claims and keys; else in the git directory",
			set: text(func(s *Settings) *Value[string] { return &s.StateDir }, func(s string, _ Origin) bool { return !hasControl(s) && filepath.IsAbs(s) }),
		},
		{
			Name: SSHPersist, Env: "WORKLEASE_SSH_PERSIST", Git: "worklease.sshPersist", Default: "10m",
			Want: "whole seconds from 0s (off) to 24h, with a unit, or off", Help: "how long a shared ssh connection stays open",
			set: duration(func(s *Settings) *Value[time.Duration] { return &s.SSHPersist }, 0, maxPersist, "off", "false", "no"),
		},
		{
			Name: Transport, Env: "WORKLEASE_TRANSPORT", Git: "worklease.transport", Default: "auto",
			Want: "auto or git", Help: "whether to speak git's protocol in process where possible, or always through git",
			set: choice(func(s *Settings) *Value[TransportRule] { return &s.Transport }, TransportAuto, TransportGit),
		},
		{
			Name: Timeout, Flag: "timeout", Env: "WORKLEASE_TIMEOUT", Git: "worklease.timeout", Default: "30s",
			Want: "whole seconds from 1s to 1h, with a unit", Help: "how long a command may take with the remote",
			set: duration(func(s *Settings) *Value[time.Duration] { return &s.Timeout }, minTimeout, maxTimeout),
		},
	}
}
