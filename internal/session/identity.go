package session

import (
	"fmt"
	"os/user"
	"strings"

	"github.com/git-worklease/git-worklease/internal/config"
)

// Origin says how a session's name was found.
type Origin string

// The origins of a session's name, strongest first.
const (
	OriginFlag     Origin = "flag"     // --session
	OriginEnv      Origin = "env"      // WORKLEASE_SESSION
	OriginRuntime  Origin = "runtime"  // an agent runtime's run ID
	OriginBound    Origin = "bound"    // session use
	OriginWorktree Origin = "worktree" // nothing else
)

// Identity is whom a command speaks for.
type Identity struct {
	Session string
	Origin  Origin
	// Env is the variable that the name is from, "" for none.
	Env string
	// Runtime is the agent runtime that the command runs under, "" for none that is known.
	Runtime string
	// Agent, Host and Operator go into claims; Operator may be empty.
	Agent, Host, Operator string
}

// Runtime is a program that runs coding agents, and the variable in which it gives each run's ID to the commands that it starts.
type Runtime struct {
	Name, Env string
}

// Runtimes is the table of agent runtimes that are known to name their runs.
func Runtimes() []Runtime {
	return []Runtime{
		{"codex", "CODEX_THREAD_ID"},
		{"claude-code", "CLAUDE_CODE_SESSION_ID"},
		{"copilot-cli", "COPILOT_AGENT_SESSION_ID"},
		{"amp", "AMP_CURRENT_THREAD_ID"},
	}
}

// Surroundings are what [Resolve] looks at.
type Surroundings struct {
	Settings *config.Settings
	Getenv   func(string) string
	// Bound is the name that `session use` bound to the worktree; "" for none.
	Bound string
	// Worktree is git's ID of a linked worktree, "" for the main one and outside a repository.
	Worktree string
	// Login and HostName are the system's words, see [LoginName] and os.Hostname.
	Login, HostName string
}

// Resolve is the one place where session, agent, host and operator are decided. It returns a [*config.Error] for a run ID that
// can't be a session's name.
func Resolve(s Surroundings) (Identity, error) {
	id := Identity{
		Agent:    firstName(s.Settings.Agent.V, s.Login, "unknown"),
		Host:     firstName(s.Settings.Host.V, s.HostName, "unknown"),
		Operator: s.Settings.Operator.V,
	}
	run := s.runtime()
	id.Runtime = run.Name
	id.Session, id.Origin = s.session(run)
	id.Env = s.env(id.Origin, run)
	if !config.ValidName(id.Session) {
		origin := config.Origin{Source: config.SourceEnv, Name: run.Env}
		return Identity{}, &config.Error{Origin: origin, Key: run.Env, Value: id.Session, Want: "1 to 128 bytes of UTF-8 without control characters"}
	}
	return id, nil
}

// runtime is the first known runtime whose variable is set.
func (s Surroundings) runtime() Runtime {
	for _, r := range Runtimes() {
		if s.Getenv(r.Env) != "" {
			return r
		}
	}
	return Runtime{}
}

func (s Surroundings) session(run Runtime) (string, Origin) {
	switch set := s.Settings.Session; {
	case set.Origin.Source == config.SourceFlag:
		return set.V, OriginFlag
	case set.V != "":
		return set.V, OriginEnv
	case run.Env != "":
		return s.Getenv(run.Env), OriginRuntime
	case s.Bound != "":
		return s.Bound, OriginBound
	default:
		return defaultSession(s.Worktree), OriginWorktree
	}
}

// env is the variable that a session's name is from.
func (s Surroundings) env(o Origin, run Runtime) string {
	switch o {
	case OriginEnv:
		return s.Settings.Session.Origin.Name
	case OriginRuntime:
		return run.Env
	default:
		return ""
	}
}

// Source says for people where the session's name is from.
func (id *Identity) Source() string {
	switch id.Origin {
	case OriginFlag:
		return "flag --session"
	case OriginBound:
		return "session use"
	case OriginRuntime:
		return fmt.Sprintf("env %s (%s)", id.Env, id.Runtime)
	case OriginEnv:
		return "env " + id.Env
	default:
		return "the worktree"
	}
}

// defaultSession is the session of a worktree that nobody named: @main, or wt- and git's ID. An ID that can't be part of a name is
// hashed.
func defaultSession(worktree string) string {
	if worktree == "" {
		return "@main"
	}
	name := "wt-" + worktree
	if config.ValidName(name) {
		return name
	}
	return "wt-" + hashName(worktree)
}

// firstName is the first that can be a name.
func firstName(names ...string) string {
	for _, name := range names {
		if config.ValidName(name) {
			return name
		}
	}
	return ""
}

// LoginName is the name of the user that the process runs as, without a Windows domain; "" where the system has none.
func LoginName(getenv func(string) string) string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	}
	for _, name := range []string{"LOGNAME", "USER", "USERNAME"} {
		if login := getenv(name); login != "" {
			return login
		}
	}
	return ""
}
