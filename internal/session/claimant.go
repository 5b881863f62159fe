package session

import (
	"path/filepath"
	"slices"
	"strings"
)

// Process is one process of the system's table.
type Process struct {
	PID, Parent int
	// Start tells apart processes that had the same PID, on this boot and others.
	Start string
	// Args is the command line; its first is the program as it was called. Empty where the system doesn't say.
	Args []string
	// Name is the program's own name, as far as the system keeps it.
	Name string
}

// Processes is the system's table of processes.
type Processes interface {
	// Lookup finds a living process. ok is false where there is none, or where the system doesn't say.
	Lookup(pid int) (p Process, ok bool)
}

// Claimant is the long-lived process on whose behalf a command runs: an agent, an editor, an interactive shell. Its zero
// value says that none was found.
type Claimant struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
	Name  string `json:"name,omitempty"`
}

// maxAncestors bounds the search for a claimant.
const maxAncestors = 64

// FindClaimant goes from a process (the parent of the command) up to the nearest that is neither git, nor a shell running one command
// or script, nor a program that only runs another. It returns zero where it meets the system's first process or an end of what it may see.
func FindClaimant(processes Processes, pid int) Claimant {
	for range maxAncestors {
		p, ok := processes.Lookup(pid)
		if !ok || p.Start == "" || isInit(p) {
			return Claimant{}
		}
		if !isGit(p) && !isErrand(p) && !isWrapper(p) {
			return Claimant{PID: p.PID, Start: p.Start, Name: p.program()}
		}
		pid = p.Parent
	}
	return Claimant{}
}

// Ambiguous says whether a claim that stored made can't be told to be that of now by the worktree alone: both are known, they
// differ, and the first still lives.
func Ambiguous(processes Processes, stored, now Claimant) bool {
	if stored.PID == 0 || now.PID == 0 || stored.PID == now.PID && stored.Start == now.Start {
		return false
	}
	p, alive := processes.Lookup(stored.PID)
	return alive && p.Start == stored.Start
}

// program is the base name of the program, without .exe and the dash of a login shell.
func (p Process) program() string {
	name := p.Name
	if len(p.Args) > 0 && p.Args[0] != "" {
		name = p.Args[0]
	}
	name = filepath.Base(strings.TrimPrefix(name, "-"))
	return strings.TrimSuffix(strings.ToLower(name), ".exe")
}

// isInit knows the process that adopts orphans, on whose behalf nothing runs. In a container the first process may as well be the
// agent itself.
func isInit(p Process) bool {
	switch p.program() {
	case "init", "systemd", "launchd", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "runit":
		return true
	}
	return p.PID <= 0
}

func isGit(p Process) bool { return p.program() == "git" || strings.HasPrefix(p.program(), "git-") }

// isWrapper knows programs that run one command in some way, and end with it.
func isWrapper(p Process) bool {
	switch p.program() {
	case "timeout", "nohup", "nice", "ionice", "env", "sudo", "doas", "setsid", "stdbuf", "time", "xargs", "taskset", "chrt", "flock", "make", "gmake":
		return true
	}
	return false
}

// isErrand knows a shell that runs one command or script and ends with it. A shell whose command line can't be seen is taken
// for one.
func isErrand(p Process) bool {
	switch p.program() {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox", "cmd", "powershell", "pwsh":
	default:
		return false
	}
	if len(p.Args) == 0 {
		return true
	}
	args := p.Args[1:]
	switch p.program() {
	case "busybox": // busybox sh -c …
		return len(args) < 1 || runsOne(args[1:])
	case "cmd":
		return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(strings.ToLower(arg), "/c") })
	case "powershell", "pwsh":
		return slices.ContainsFunc(args, powerErrand)
	default:
		return runsOne(args)
	}
}

// powerErrand knows the parameters of PowerShell that run something and end, unless -NoExit is given, which nobody does for long.
func powerErrand(arg string) bool {
	switch strings.ToLower(arg) {
	case "-c", "-command", "-f", "-file", "-e", "-ec", "-encodedcommand":
		return true
	default:
		return strings.HasSuffix(strings.ToLower(arg), ".ps1")
	}
}

// runsOne says whether a shell's arguments name a command (-c, -lc) or a script.
func runsOne(args []string) bool {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--rcfile", arg == "--init-file", arg == "-o", arg == "+o", arg == "-O", arg == "+O":
			i++ // takes a value
		case strings.HasPrefix(arg, "--command"):
			return true
		case strings.HasPrefix(arg, "--"):
		case strings.HasPrefix(arg, "-"), strings.HasPrefix(arg, "+"):
			if strings.Contains(arg, "c") {
				return true
			}
		default:
			return true
		}
	}
	return false
}
