package sshgit

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/internal/lockfile"
)

// rides is how many of the places on a shared connection git's own pushes may take at once: the user's hooks run meanwhile, and may take their time.
const rides = maxCalls / 2

// Ride is an environment in which git itself reaches the repository to push over the connection that calls share: nil where there is none now, or no place on
// it is free. done gives the place back. Hooks that git runs inherit the environment, so that it leads no call to any other place over it.
func Ride(ctx context.Context, o Options) (env []string, done func()) {
	t := newTransport(o)
	nothing := func() {}
	if t.prepare(ctx) != nil || !t.sharing.on() || !t.sharing.alive(ctx) {
		return nil, nothing
	}
	done, ok := t.sharing.place()
	if !ok {
		return nil, nothing
	}
	return []string{"GIT_SSH_COMMAND=" + t.riding(), "GIT_SSH_VARIANT=ssh"}, done
}

// place takes a free place for git's own push, and waits for none.
func (s sharing) place() (release func(), ok bool) {
	base := strings.TrimSuffix(s.socket, ".s")
	for i := range rides {
		if unlock, err := lockfile.TryLock(fmt.Sprintf("%s.%d", base, i)); err == nil {
			return func() { _ = unlock() }, true
		}
	}
	return nil, false
}

// riding is a command for git's shell: the user's, with the connection where git asks for receive-pack of this very repository.
func (t *transport) riding() string {
	line := t.program.line
	if line == "" {
		line = quote(t.program.path)
	}
	call := t.address.host + " " + t.o.ReceivePack + " " + t.address.quoted()
	if t.address.port != "" {
		call = "-p " + t.address.port + " " + call
	}
	options := t.sharing.options(follower)
	for i := range options {
		options[i] = quote(options[i])
	}
	return fmt.Sprintf(`f() { case "$*" in %s) %s %s "$@" ;; *) %s "$@" ;; esac; }; f`, quote(call), line, strings.Join(options, " "), line)
}

// quote makes one word of the shell's.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
