package server

import (
	"bytes"
	"regexp"
	"strings"
)

// The hooks, in the order in which they are installed: what decides comes first, so that nothing is said that does not hold.
const (
	ReferenceTransaction = "reference-transaction"
	PreReceive           = "pre-receive"
)

// Hooks are the names of all hooks of a server.
func Hooks() []string { return []string{ReferenceTransaction, PreReceive} }

// marker begins the second line of a hook file of ours. The number is the version of what follows.
const marker = "# worklease-server-hook 1 "

// script is a hook file. A hook that was there before runs first, with the same input; without the program nothing is let through.
const script = `#!/bin/sh
# worklease-server-hook 1 @HOOK@
# Written by ` + "`git worklease hooks install --server`; `git worklease hooks uninstall --server`" + ` puts back what was here before.
program=@PROGRAM@
chained=@CHAINED@
case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac
[ -z "$chained" ] || chained=${self%/*}/$chained
[ -x "$chained" ] || chained=
@STATES@[ -x "$program" ] || program=$(command -v git-worklease) || {
  echo "git-worklease is missing on this server, and without it no ref is changed; its administrator removes the hook by: rm '$self'" >&2
  exit 1
}
if [ -n "$chained" ]; then
  lines=$(cat)
  replay() { [ -z "$lines" ] || printf '%s\n' "$lines" 2>/dev/null; }
  replay | "$chained" "$@" || exit
  replay | "$program" hooks run @HOOK@ "$@"
  exit
fi
exec "$program" hooks run @HOOK@ "$@"
`

// states lets the program out of what is past deciding.
const states = `case $1 in
prepared) ;;
*) [ -z "$chained" ] || exec "$chained" "$@"; exit 0 ;;
esac
`

// render is the hook file. chained is the name of the file beside it that runs first, "" for none.
func render(hook, program, chained string) []byte {
	only := ""
	if hook == ReferenceTransaction {
		only = states
	}
	return []byte(strings.NewReplacer("@HOOK@", hook, "@PROGRAM@", quote(program), "@CHAINED@", quote(chained), "@STATES@", only).Replace(script))
}

// quote makes one word of the shell's.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// written is a hook file of ours as it was read.
type written struct {
	program, chained string
	// changed says that the file is not as it was written.
	changed bool
}

// assigned is the line of a hook that assigns a variable. It is compiled when a hook is read: one that runs reads none.
func assigned(variable string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^` + variable + `='(.*)'$`)
}

// parse reads the file of a hook; not ok: it is none of ours.
func parse(hook string, data []byte) (w written, ok bool) {
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	if string(line) != marker+hook {
		return w, false
	}
	w = written{program: value("program", data), chained: value("chained", data)}
	w.changed = !bytes.Equal(render(hook, w.program, w.chained), data)
	return w, true
}

func value(variable string, data []byte) string {
	m := assigned(variable).FindSubmatch(data)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(string(m[1]), `'\''`, "'")
}
