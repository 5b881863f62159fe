package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/refstore"
)

func newDemo(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "show it all at work in a temporary repository",
		Long: `Makes a bare repository and two clones of it in a temporary folder, and runs real commands in
them: a claim, a refusal, a release, a claim with a higher generation, expiry and a take-over;
a commit and a push that hooks refuse; then a push of code and claim in one, and one that the
server refuses because the claim was lost.
Time passes on a logical clock. Nothing outside of the folder is touched, and it is removed at
the end. Exit 0 only if every command ended as it should.`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runDemo(ctx) }),
	}
}

// demoStep is one command of the demonstration, or a span of time that passes before it.
type demoStep struct {
	after time.Duration
	says  string
	user  string
	args  string
	want  fault.Exit
	// git is a command of git's instead, and shows what it must print on standard output.
	git, shows string
	// meanwhile are steps that are played once the command has decided what to write, before it does.
	meanwhile []demoStep
}

// demoPolicy is what the repository of the demonstration asks of its branches.
const demoPolicy = `version = 1

[enforce]
commit = "block"
push = "block"

[[rule]]
branch = "task/{id}"
claim = "task:{id}"
`

// demoSteps is the whole demonstration. Hooks are processes of their own, with a clock of their own: they come before time passes.
var demoSteps = []demoStep{
	{says: "in carol's clone git's hooks see to it that a branch has the claim that the policy file asks for", user: "carol", args: "hooks install"},
	{user: "carol", git: "switch --quiet -c task/form"},
	{says: "she forgot to claim: the commit is refused", user: "carol", git: "commit --quiet --allow-empty -m form", want: 1},
	{says: "she commits all the same: the push is refused", user: "carol", git: "commit --quiet --allow-empty --no-verify -m form"},
	{user: "carol", git: "push --quiet origin task/form", want: 1},
	{says: "without a key, claim takes what the branch asks for", user: "carol", args: "claim"},
	{user: "carol", git: "push --quiet origin task/form"},
	{says: "alice claims a piece of work", user: "alice", args: "claim task:demo --purpose new-login-form"},
	{says: "bob, in another clone, is refused, and told by whom", user: "bob", args: "claim task:demo", want: fault.Refused},
	{says: "alice is done; what she released stays released", user: "alice", args: "release -m merged"},
	{says: "now bob gets it, with a higher generation, for 30 minutes", user: "bob", args: "claim task:demo --ttl 30m --purpose fix-tests"},
	{says: "bob is not heard of any more: his claim expires, and nobody may have it yet", after: 31 * time.Minute, user: "alice", args: "status task:demo"},
	{user: "alice", args: "claim task:demo", want: fault.Refused},
	{says: "then it is stale, and may be taken over", after: 6 * time.Minute, user: "alice", args: "status task:demo"},
	{says: "and at last dead", after: 2 * time.Hour, user: "alice", args: "status task:demo"},
	{says: "alice takes it over", user: "alice", args: "claim task:demo --purpose finish-bobs-work"},
	{says: "bob wakes up, and learns that his claim is lost", user: "bob", args: "renew", want: fault.Lost},
	{says: "the ref's history is the audit trail", user: "bob", args: "history task:demo"},
	{says: "alice pushes her work: code and claim move together, or not at all", user: "alice", git: "commit --quiet --allow-empty -m first-half"},
	{user: "alice", args: "push origin HEAD:refs/heads/demo"},
	{says: "once more, but now her laptop falls asleep in the middle of it", user: "alice", git: "commit --quiet --allow-empty -m second-half"},
	{user: "alice", args: "push origin HEAD:refs/heads/demo", want: fault.Lost, meanwhile: []demoStep{
		{says: "bob takes over what has expired", after: 3 * time.Hour, user: "bob", args: "claim task:demo --purpose rescue"},
		{says: "alice's laptop wakes up, and goes on with the push"},
	}},
	{says: "the server has refused the code with the claim: the branch is where it was", user: "bob", git: "fetch --quiet"},
	{user: "bob", git: "log --format=%s origin/demo", shows: "first-half\n"},
}

// demoResult is a step for programs.
type demoResult struct {
	User     string     `json:"user"`
	Command  string     `json:"command"`
	Exit     fault.Exit `json:"exit"`
	Expected fault.Exit `json:"expected"`
}

func (a *app) runDemo(ctx context.Context) (*outcome, error) {
	dir, err := os.MkdirTemp("", "git-worklease-demo-")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	out := a.out
	if a.flags.json {
		out = io.Discard
	}
	d := &demo{app: a, dir: dir, out: out, clock: &logicalClock{Clock: a.clock}}
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	results, err := d.play(ctx, demoSteps)
	if err != nil {
		return nil, err
	}
	return &outcome{result: results, text: func(p *printer) { p.printf("\nevery command ended as it should\n") }}, nil
}

// demo is a folder with a bare repository and two clones.
type demo struct {
	*app
	dir   string
	out   io.Writer
	clock *logicalClock
}

// prepare makes the repository and the clones.
func (d *demo) prepare(ctx context.Context) error {
	git := &gitexec.Git{Dir: d.dir, Env: d.environment("nobody")}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "server.git"},
		{"clone", "--quiet", "server.git", "alice"},
		{"clone", "--quiet", "server.git", "bob"},
		{"clone", "--quiet", "server.git", "carol"},
	} {
		if _, err := git.Output(ctx, args...); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(d.dir, "carol", config.PolicyFile), []byte(demoPolicy), 0o600); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	git.Dir = filepath.Join(d.dir, "carol")
	for _, args := range [][]string{{"add", config.PolicyFile}, {"commit", "--quiet", "-m", "policy"}, {"push", "--quiet", "origin", "HEAD"}} {
		if _, err := git.Output(ctx, args...); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	return nil
}

// environment is that of a user whose settings are not those of whoever runs the demonstration.
func (d *demo) environment(user string) []string {
	var environ []string
	for _, entry := range d.environ {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "SYSTEMROOT", "PATHEXT", "COMSPEC", "TZ", "TERM", "NO_COLOR", "LANG", "LC_ALL":
			environ = append(environ, entry)
		}
	}
	return append(environ, "HOME="+d.dir, "XDG_CONFIG_HOME="+d.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "WORKLEASE_AGENT="+user, "WORKLEASE_HOST="+user+"s-laptop",
		"GIT_AUTHOR_NAME="+user, "GIT_AUTHOR_EMAIL="+user+"@localhost", "GIT_COMMITTER_NAME="+user, "GIT_COMMITTER_EMAIL="+user+"@localhost")
}

// play runs steps, and fails at the first that does not end as it should.
func (d *demo) play(ctx context.Context, steps []demoStep) ([]demoResult, error) {
	var results []demoResult
	for i := range steps {
		step := &steps[i]
		d.clock.advance(step.after)
		d.introduce(step)
		if step.user == "" {
			continue
		}
		r := demoResult{User: step.user, Command: "git " + step.git, Expected: step.want}
		if step.git == "" {
			r.Command = "git worklease " + step.args
		}
		fmt.Fprintf(d.out, "%s$ %s\n", step.user, r.Command)
		between, err := d.do(ctx, step, &r)
		if err != nil {
			return nil, err
		}
		if r.Exit != 0 {
			fmt.Fprintf(d.out, "(exit %d)\n", r.Exit)
		}
		if r.Exit != step.want {
			return nil, fmt.Errorf("demo: %s: %s: exit %d, expected %d", step.user, r.Command, r.Exit, step.want)
		}
		results = append(append(results, r), between...)
	}
	return results, ctx.Err()
}

// introduce says what a step is about, and when it is.
func (d *demo) introduce(step *demoStep) {
	if step.says != "" {
		fmt.Fprintf(d.out, "\n%s\n", d.palette.Paint(term.Dim, "# "+step.says))
	}
	if step.after > 0 {
		fmt.Fprintf(d.out, "%s\n", d.palette.Paint(term.Dim, "# ("+term.Span(step.after)+" later)"))
	}
}

// do runs one command as its user would, ours in this process, and what happens meanwhile.
func (d *demo) do(ctx context.Context, step *demoStep, r *demoResult) (between []demoResult, err error) {
	dir, environ := filepath.Join(d.dir, step.user), d.environment(step.user)
	if step.git != "" {
		r.Exit, err = d.doGit(ctx, step, dir, environ)
		return nil, err
	}
	e := &env{
		args: strings.Fields(step.args), in: strings.NewReader(""), out: d.out, err: d.out, environ: environ, dir: dir, clock: d.clock, version: d.version,
	}
	played := len(step.meanwhile) == 0
	e.store = func(s refstore.Store) refstore.Store {
		return &pausedStore{Store: s, pause: func() {
			if !played {
				played = true
				between, err = d.play(ctx, step.meanwhile)
			}
		}}
	}
	r.Exit = fault.Exit(execute(ctx, e))
	if err == nil && !played {
		err = fmt.Errorf("demo: %s: git worklease %s: it has written nothing", step.user, step.args)
	}
	return between, err
}

// doGit runs a command of git's, and shows what it prints.
func (d *demo) doGit(ctx context.Context, step *demoStep, dir string, environ []string) (fault.Exit, error) {
	var out bytes.Buffer
	cmd := (&gitexec.Git{Dir: dir, Env: environ}).Command(ctx, strings.Fields(step.git)...)
	cmd.Stdout, cmd.Stderr = &out, d.out
	err := cmd.Run()
	fmt.Fprintf(d.out, "%s", out.Bytes())
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return fault.Exit(exit.ExitCode()), nil
	case err == nil && out.String() != step.shows:
		err = fmt.Errorf("it shows %q, not %q", out.String(), step.shows)
	}
	if err != nil {
		err = fmt.Errorf("demo: %s: git %s: %w", step.user, step.git, err)
	}
	return 0, err
}

// pausedStore pauses once the records are made that are about to be sent.
type pausedStore struct {
	refstore.Store
	pause func()
}

func (s *pausedStore) Build(changes ...refstore.Change) (*refstore.Tx, error) {
	tx, err := s.Store.Build(changes...)
	s.pause()
	return tx, err
}
