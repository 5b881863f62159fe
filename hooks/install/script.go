package install

import (
	"bytes"
	"regexp"
	"strings"
)

// marker begins the second line of a hook file of ours. The number is the version of what follows.
const marker = "# worklease-hook 1 "

// head finds the program, and then the hook that was there before: commits go on without the program, a push does not.
const head = `#!/bin/sh
# worklease-hook 1 @HOOK@
# Written by ` + "`git worklease hooks install`; `git worklease hooks uninstall`" + ` puts back what was here before.
program=@PROGRAM@
chained=@CHAINED@
case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac
[ -z "$chained" ] || chained=${self%/*}/$chained
[ -x "$program" ] || program=$(command -v git-worklease) || program=
`

const (
	runBefore = `if [ -x "$chained" ]; then "$chained" "$@" || exit; fi
`
	runOurs = `if [ -n "$program" ]; then "$program" hooks run @HOOK@ "$@" || exit; fi
`
	removal = `remove="rm '$self'"
[ ! -e "$chained" ] || remove="mv -f '$chained' '$self'"
`
	sayUnchecked = `[ -n "$program" ] || echo "git-worklease is not installed: this commit was not checked; to remove its hook: $remove" >&2
`
	// pushBody hands what git says about the refs to both hooks, and to whatever is written below by others.
	pushBody = `refs=$(cat)
replay() { [ -z "$refs" ] || printf '%s\n' "$refs" 2>/dev/null; }
if [ -x "$chained" ]; then replay | "$chained" "$@" || exit; fi
if [ -z "$program" ]; then
  echo "git-worklease is not installed, and without it no push is let through; to remove its hook: $remove" >&2
  exit 1
fi
replay | "$program" hooks run @HOOK@ "$@" || exit
[ -z "$refs" ] || exec <<EOF
$refs
EOF
`
)

// render is the hook file. chained is the name of the file beside it that runs first, "" for none. The file ends without exit, so that lines which
// other tools append to it run as well.
func render(h Hook, program, chained string) []byte {
	var text string
	switch h {
	case PrePush:
		text = head + removal + pushBody
	case PreCommit:
		text = head + runBefore + removal + sayUnchecked + runOurs
	default:
		text = head + runBefore + runOurs
	}
	return []byte(strings.NewReplacer("@HOOK@", string(h), "@PROGRAM@", quote(program), "@CHAINED@", quote(chained)).Replace(text))
}

// quote makes one word of the shell's.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// written is a hook file of ours as it was read.
type written struct {
	hook             Hook
	program, chained string
	// changed says that the file is not as it was written.
	changed bool
}

// assigned is the line of a hook that assigns a variable. It is compiled when a hook is read: one that runs reads none.
func assigned(variable string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^` + variable + `='(.*)'$`)
}

// parse reads a hook file; not ok: it is none of ours.
func parse(data []byte) (w written, ok bool) {
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	name, ok := strings.CutPrefix(string(line), marker)
	if !ok {
		return w, false
	}
	w = written{hook: Hook(strings.TrimSpace(name)), program: value("program", data), chained: value("chained", data)}
	w.changed = !bytes.Equal(render(w.hook, w.program, w.chained), data)
	return w, true
}

func value(variable string, data []byte) string {
	m := assigned(variable).FindSubmatch(data)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(string(m[1]), `'\''`, "'")
}

// command is the value of hook.worklease-NAME.command: git runs it by the shell, with the hook's arguments behind it.
func command(h Hook, program string) string {
	without := `echo "git-worklease is not installed: this commit was not checked; to remove its hook: git config --remove-section ` + section(h) + `" >&2; exit 0`
	switch h {
	case PrePush:
		without = `echo "git-worklease is not installed, and without it no push is let through; to remove its hook: git config --remove-section ` + section(h) + `" >&2; exit 1`
	case CommitMsg, PostCommit:
		without = "exit 0"
	case PreCommit:
	}
	return "w=" + quote(program) + `; [ -x "$w" ] || w=$(command -v git-worklease) || { ` + without + `; }; "$w" hooks run ` + string(h)
}

// section is where git's configuration has a hook of ours.
func section(h Hook) string { return "hook.worklease-" + string(h) }

// calls says whether a script or a configuration of others calls us for a hook.
func calls(data []byte, h Hook) bool {
	for rest := data; ; {
		i := bytes.Index(rest, []byte("worklease hooks run "+string(h)))
		if i < 0 {
			return false
		}
		start := bytes.LastIndexByte(rest[:i], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimSpace(rest[start:i]), []byte("#")) {
			return true
		}
		rest = rest[i+1:]
	}
}

// line is what the owner of a hook adds to it.
func line(h Hook) string {
	call := `git-worklease hooks run ` + string(h) + ` "$@"`
	switch h {
	case PrePush:
		return `command -v git-worklease >/dev/null || { echo "git-worklease is not installed, and without it no push is let through" >&2; exit 1; }; ` + call + ` || exit`
	case PreCommit:
		return `if command -v git-worklease >/dev/null; then ` + call + ` || exit; else echo "git-worklease is not installed: this commit was not checked" >&2; fi`
	default:
		return `if command -v git-worklease >/dev/null; then ` + call + ` || exit; fi`
	}
}

// lefthookPart is what is added to lefthook's configuration. At a push it goes first: lefthook (2.1) hands git's lines from one command to the next, and
// they are lost to the rest once a command ends without having read them.
func lefthookPart(h Hook) string {
	part := string(h) + ":\n  commands:\n    worklease:\n"
	if h == PrePush {
		return part + "      run: git-worklease hooks run " + string(h) + " {0}\n      use_stdin: true\n      priority: 1"
	}
	return part + "      run: if command -v git-worklease >/dev/null; then git-worklease hooks run " + string(h) + " {0}; fi"
}
