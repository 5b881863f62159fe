package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
)

// app is one run of the program.
type app struct {
	*env
	flags globals
	// operation is the command's name, for JSON.
	operation string
	// writes says that the command changes claims.
	writes bool
	// early says that it will most likely write without reading first.
	early bool
	// releases says that the command ends claims.
	releases bool
	// judges says that the command goes by the policy's rules, so that those must be readable.
	judges bool
	// opened is what the command works with, once it is there.
	opened *work
	// authority is the ID of the authority, once it is known.
	authority func() string
	// policy reads the policy that the command goes by; nil: that of the work tree.
	policy func(context.Context, *work) (*config.Policy, error)
	// defaultTTL is the command's own default; 0: that of the settings.
	defaultTTL time.Duration
	// noticing guards notices: those of a keeper come from several goroutines.
	noticing sync.Mutex
	notices  []string
	// line is rewritten while the command waits; nil: there is none.
	line    *term.LiveLine
	palette term.Palette
	// colour is git's setting for colours.
	colour string
	exit   fault.Exit
}

// globals are the flags that every command has.
type globals struct {
	json     bool
	settings map[string]string
}

// outcome is what a command found, for programs and for people.
type outcome struct {
	result any
	text   func(p *printer)
	// failure is an error that comes with a result: a status of which a part is unknown.
	failure error
	// paged says that the text goes through git's pager on a terminal.
	paged bool
}

func newApp(e *env) *app {
	return &app{env: e, operation: "status", authority: func() string { return "" }, flags: globals{settings: map[string]string{}}}
}

// execute runs the program and returns its exit status.
func execute(ctx context.Context, e *env) int {
	a := newApp(e)
	a.palette.On = term.Colour("", isTerminal(e.err), e.getenv)
	root := newRootFor(a, e.args)
	root.SetArgs(e.args)
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	if cmd, err := root.ExecuteContextC(ctx); err != nil {
		a.operation = operation(cmd)
		a.fail(ctx, err)
	}
	a.forget()
	return int(a.exit)
}

// forget lets go of what was opened: cobra keeps what completes flags, and the run with it, for as long as the process lives, and a process may run
// the program many times.
func (a *app) forget() { a.opened, a.authority, a.line = nil, nil, nil }

// run makes a cobra command of a function. What cobra itself finds wrong never gets here, so that whatever is not wrapped in a runError is an error
// of usage.
func (a *app) run(f func(ctx context.Context, args []string) (*outcome, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.operation = operation(cmd)
		o, err := f(cmd.Context(), args)
		if err = a.nameRemote(cmd.Context(), err); err == nil && o != nil {
			o.failure = a.nameRemote(cmd.Context(), o.failure)
			err = a.show(cmd.Context(), o)
		}
		if err != nil {
			return &runError{err}
		}
		return nil
	}
}

// operation is the command's name for programs: its words joined by dashes, without the program's.
func operation(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())
	root := strings.Fields(cmd.Root().CommandPath())
	if len(words) == len(root) {
		return "status"
	}
	return strings.Join(words[len(root):], "-")
}

// runError marks an error that a command ran into.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }
func (e *runError) Unwrap() error { return e.err }

// show prints an outcome.
func (a *app) show(ctx context.Context, o *outcome) error {
	if o.failure != nil {
		a.exit = a.judge(o.failure).Exit
	}
	if !a.flags.json {
		p := a.printer()
		o.text(p)
		write := a.writeOut
		if o.paged {
			write = func(text []byte) error { return a.page(ctx, text) }
		}
		err := write(p.buffer.Bytes())
		if o.failure != nil {
			a.complain(a.judge(o.failure))
		}
		return err
	}
	return a.envelope(o).write(a.documents())
}

// envelope is an outcome for programs.
func (a *app) envelope(o *outcome) *envelope {
	v := &envelope{Operation: a.operation, OK: o.failure == nil, Authority: a.authority(), Result: o.result, Notices: a.notices}
	if o.failure != nil {
		v.Error = newFailure(a.judge(o.failure))
	}
	return v
}

// documents is where the JSON goes: to standard output, unless that is the output of another program.
func (a *app) documents() io.Writer {
	if a.operation == execOperation {
		return a.err
	}
	return a.out
}

// fail prints an error and sets the exit status.
func (a *app) fail(ctx context.Context, err error) {
	var ran *runError
	if !errors.As(err, &ran) && !errors.Is(err, fault.ErrUsage) {
		err = &fault.UsageError{Message: err.Error(), Hint: "`git worklease -h` lists the commands"}
	}
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) && !errors.Is(err, context.Canceled) {
		err = errors.Join(err, context.Canceled)
	}
	f := a.judge(err)
	a.exit = f.Exit
	if !a.wantsJSON() {
		a.complain(f)
		return
	}
	v := &envelope{Operation: a.operation, Authority: a.authority(), Error: newFailure(f), Notices: a.notices}
	if err := v.write(a.documents()); err != nil {
		fmt.Fprintf(a.err, "git-worklease: %v\n", err)
	}
}

// wantsJSON says whether the result must be JSON, also where the command line could not be read.
func (a *app) wantsJSON() bool {
	end := slices.Index(a.args, "--")
	if end < 0 {
		end = len(a.args)
	}
	return a.flags.json || slices.Contains(a.args[:end], "--json")
}

// complain prints a fault for people: what happened, more words, and what to do next.
func (a *app) complain(f fault.Fault) {
	fmt.Fprintf(a.err, "%s %s\n", a.palette.Paint(term.Bad, "git-worklease:"), f.Message)
	for _, line := range f.Lines {
		fmt.Fprintf(a.err, "  %s\n", line)
	}
	if f.Hint != "" {
		fmt.Fprintf(a.err, "%s %s\n", a.palette.Paint(term.Warn, "hint:"), f.Hint)
	}
}

// notice tells a person something that is no failure.
func (a *app) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a.noticing.Lock()
	defer a.noticing.Unlock()
	if slices.Contains(a.notices, text) {
		return
	}
	a.notices = append(a.notices, text)
	if !a.flags.json {
		a.line.Clear()
		fmt.Fprintf(a.err, "%s %s\n", a.palette.Paint(term.Warn, "notice:"), text)
	}
}

func (a *app) scene() fault.Scene {
	s := fault.Scene{Now: a.clock.Now(), Zone: a.zone(), Writes: a.writes}
	if a.opened != nil {
		s.Self, s.Unnamed = a.opened.holder(), a.opened.state.Unnamed
	}
	return s
}

// zone is the time zone of whoever reads the output.
func (a *app) zone() *time.Location {
	if tz := a.getenv("TZ"); tz != "" && tz != os.Getenv("TZ") {
		if zone, err := time.LoadLocation(strings.TrimPrefix(tz, ":")); err == nil {
			return zone
		}
	}
	return time.Local //nolint:gosmopolitan // people read it
}
