package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
)

func newDemo(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "show it all at work in a temporary repository",
		Long: `Makes a bare repository and two clones of it in a temporary folder, and runs real commands in
them: a claim, a refusal, a release, a claim with a higher generation, expiry and a take-over.
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
}

// demoSteps is the whole demonstration.
var demoSteps = []demoStep{
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
	results, err := d.play(ctx)
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
	} {
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
		"GIT_TERMINAL_PROMPT=0", "WORKLEASE_AGENT="+user, "WORKLEASE_HOST="+user+"s-laptop")
}

// play runs the steps, and fails at the first that does not end as it should.
func (d *demo) play(ctx context.Context) ([]demoResult, error) {
	var results []demoResult
	for _, step := range demoSteps {
		d.clock.offset += step.after
		if step.says != "" {
			fmt.Fprintf(d.out, "\n%s\n", d.palette.Paint(term.Dim, "# "+step.says))
		}
		if step.after > 0 {
			fmt.Fprintf(d.out, "%s\n", d.palette.Paint(term.Dim, "# ("+term.Span(step.after)+" later)"))
		}
		fmt.Fprintf(d.out, "%s$ git worklease %s\n", step.user, step.args)
		r := demoResult{User: step.user, Command: step.args, Expected: step.want}
		r.Exit = d.do(ctx, step)
		if r.Exit != 0 {
			fmt.Fprintf(d.out, "(exit %d)\n", r.Exit)
		}
		if r.Exit != step.want {
			return nil, fmt.Errorf("demo: %s: git worklease %s: exit %d, expected %d", step.user, step.args, r.Exit, step.want)
		}
		results = append(results, r)
	}
	return results, ctx.Err()
}

// do runs one command as its user would, in this process.
func (d *demo) do(ctx context.Context, step demoStep) fault.Exit {
	return fault.Exit(execute(ctx, &env{
		args: strings.Fields(step.args), in: strings.NewReader(""), out: d.out, err: d.out,
		environ: d.environment(step.user), dir: filepath.Join(d.dir, step.user), clock: d.clock, version: d.version,
	}))
}
