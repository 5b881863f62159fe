package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// scriptCommands are the commands that scripts have beside those of testscript:
//
//	server http|http-auth|ssh|path NAME [sha256] [key=value...]
//	                                                     a bare repository with one commit; sets $URL, $REPO, $URL_NAME and $REPO_NAME
//	clone USER [URL]                                     a user with a clone of $URL, or of URL; "-" for a user without one
//	as USER [exit=N] [in=DIR] [NAME=VALUE...] ARGS...    the user runs git-worklease ARGS; afterwards the clone's refs are as before
//	begin NAME USER [in=DIR] [NAME=VALUE...] ARGS...     the same in the background, where it is called NAME
//	await NAME REGEXP                                    waits until it has printed that on stderr
//	signal NAME INT|TERM|KILL                            sends it a signal
//	end NAME [exit=N] [pushed]                           waits for its end; pushed: the clone's remote-tracking refs have followed a push
//	run USER [exit=N] [in=DIR] [NAME=VALUE...] PROGRAM ARGS...
//	advance DURATION                                     puts the clock of everybody forward, the servers' Date included
//	servergit ARGS...                                    git in the last server's repository
//	serverhook NAME FILE                                 installs a hook there
//	tamper KEY OLD NEW                                   puts a record on top of KEY's with the text OLD in it replaced
//	forge REF FILE                                       puts a commit with the message in FILE at a ref there
//	fault WHEN WHAT                                      lets the http server answer wrong; "fault heal" ends that
//	requests [N]                                         the http server has had so many since the last time
//	refs-unchanged USER                                  the clone has no refs, no history and no tracked branch more than before
//	json PATH [REGEXP], json-keys PATH KEY...            the last command's output is one JSON document with that value, or exactly those members
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"server": command(cmdServer), "clone": command(cmdClone), "as": command(cmdAs), "run": command(cmdRun), "advance": command(cmdAdvance),
		"servergit": command(cmdServerGit), "serverhook": command(cmdServerHook), "tamper": command(cmdTamper), "forge": command(cmdForge),
		"fault": command(cmdFault), "refs-unchanged": command(cmdRefsUnchanged), "json": cmdJSON, "json-keys": command(cmdJSONKeys),
		"requests": command(cmdRequests), "begin": command(cmdBegin), "await": command(cmdAwait), "signal": command(cmdSignal), "end": command(cmdEnd),
	}
}

// command is a command that can't be negated and fails by an error.
func command(f func(ts *testscript.TestScript, w *world, args []string) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("unsupported: !")
		}
		if err := f(ts, worldOf(ts), args); err != nil {
			ts.Fatalf("%v", err)
		}
	}
}

func need(args []string, least int) error {
	if len(args) < least {
		return fmt.Errorf("%d arguments are needed", least)
	}
	return nil
}

func cmdServer(ts *testscript.TestScript, w *world, args []string) error {
	if err := need(args, 2); err != nil {
		return err
	}
	kind, name := args[0], args[1]
	if err := w.create(name, args[2:]); err != nil {
		return err
	}
	url, err := w.serve(kind, name)
	if err != nil {
		return err
	}
	for variable, value := range map[string]string{"URL": url, "URL_" + name: url, "REPO": w.repo.Dir, "REPO_" + name: w.repo.Dir} {
		ts.Setenv(variable, value)
	}
	return nil
}

func cmdClone(ts *testscript.TestScript, w *world, args []string) error {
	if err := need(args, 1); err != nil {
		return err
	}
	name, url := args[0], ts.Getenv("URL")
	if len(args) > 1 {
		url = args[1]
	}
	c, err := gitserver.NewUser(filepath.Join(w.dir, name), w.environment(name)...)
	if err != nil {
		return err
	}
	u := &scriptUser{Checkout: c}
	w.users[name] = u
	ts.Setenv(strings.ToUpper(name), c.Dir)
	if url == "-" {
		return nil
	}
	if strings.HasPrefix(url, "http") && w.closed != nil && strings.Contains(url, w.closed.Addr()) {
		if err := w.giveCredentials(u, name); err != nil {
			return err
		}
	}
	if _, err := c.Git(w.ctx, "clone", "--quiet", url, "."); err != nil {
		return err
	}
	u.refs, err = w.snapshot(u)
	return err
}

// giveCredentials gives a user a credential helper, and a log of what it was asked for.
func (w *world) giveCredentials(u *scriptUser, name string) error {
	script := fmt.Sprintf("#!/bin/sh\necho \"$1\" >> '%s'\n[ \"$1\" = get ] && printf 'username=%%s\\npassword=%%s\\n' '%s' '%s'\nexit 0\n",
		filepath.Join(u.Home, "asked"), name, passwords[name])
	path := filepath.Join(u.Home, "helper")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // it must be run
		return err
	}
	_, err := u.Git(w.ctx, "config", "--global", "credential.helper", path)
	return err
}

// call is a command of a user.
type call struct {
	user *scriptUser
	exit int
	dir  string
	env  []string
	args []string
}

func (w *world) parseCall(args []string) (*call, error) {
	if err := need(args, 1); err != nil {
		return nil, err
	}
	u, ok := w.users[args[0]]
	if !ok {
		return nil, fmt.Errorf("no user %q", args[0])
	}
	c := &call{user: u, dir: u.Dir, args: args[1:]}
	for ; len(c.args) > 0; c.args = c.args[1:] {
		name, value, ok := strings.Cut(c.args[0], "=")
		switch {
		case !ok || strings.ContainsAny(name, "-:/. "):
			return c, nil
		case name == "exit":
			exit, err := strconv.Atoi(value)
			if err != nil {
				return nil, err
			}
			c.exit = exit
		case name == "in":
			c.dir = filepath.Join(u.Dir, value)
			if filepath.IsAbs(value) {
				c.dir = value
			}
		default:
			c.env = append(c.env, name+"="+value)
		}
	}
	return c, nil
}

// do runs a program for a user, and insists on the exit status.
func (c *call) do(ts *testscript.TestScript, w *world, program string, args []string) error {
	there := *c.user.Checkout
	there.Dir, there.Env = c.dir, append(there.Env[:len(there.Env):len(there.Env)], c.env...)
	r := there.Run(w.ctx, program, args...)
	fmt.Fprint(ts.Stdout(), r.Stdout)
	fmt.Fprint(ts.Stderr(), r.Stderr)
	if r.Code != c.exit {
		return fmt.Errorf("exit %d instead of %d", r.Code, c.exit)
	}
	return nil
}

func cmdAs(ts *testscript.TestScript, w *world, args []string) error {
	c, err := w.parseCall(args)
	if err != nil {
		return err
	}
	if err := c.do(ts, w, "git-worklease", c.args); err != nil {
		return err
	}
	return w.sameRefs(c.user)
}

func (w *world) sameRefs(u *scriptUser) error {
	now, err := w.snapshot(u)
	if err == nil && now != u.refs {
		err = fmt.Errorf("the clone's refs have changed:\n%s\ninstead of\n%s", now, u.refs)
	}
	return err
}

func cmdRun(ts *testscript.TestScript, w *world, args []string) error {
	c, err := w.parseCall(args)
	if err != nil {
		return err
	}
	if err := need(c.args, 1); err != nil {
		return err
	}
	if err := c.do(ts, w, c.args[0], c.args[1:]); err != nil {
		return err
	}
	c.user.refs, err = w.snapshot(c.user)
	return err
}

func cmdAdvance(_ *testscript.TestScript, w *world, args []string) error {
	if err := need(args, 1); err != nil {
		return err
	}
	by, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	return writeOffset(w.clock(), readOffset(w.clock())+by)
}

func cmdRefsUnchanged(_ *testscript.TestScript, w *world, args []string) error {
	if err := need(args, 1); err != nil {
		return err
	}
	u, ok := w.users[args[0]]
	if !ok {
		return fmt.Errorf("no user %q", args[0])
	}
	log, err := u.Git(w.ctx, "log", "--all", "--oneline")
	if err != nil {
		return err
	}
	if strings.Count(log, "\n") != 0 {
		return fmt.Errorf("there is more than the first commit:\n%s", log)
	}
	return w.sameRefs(u)
}
