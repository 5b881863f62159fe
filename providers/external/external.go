package external

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// Options says which program it is, and how patiently it is asked. The durations have defaults.
type Options struct {
	// Name is what follows git-worklease-provider- in the program's name; see [CheckName].
	Name string
	// Dir is the top of the work tree, where the program runs.
	Dir string
	// Env is the program's environment, less what binds git to a repository, and has the PATH that it is looked for on; nil: the process's own.
	Env []string
	// Settings are the keys of the policy's table, which the program is told.
	Settings map[string]any
	// Now is the clock; nil: the system's.
	Now func() time.Time
	// Stderr is told each line that the program writes to its standard error, cut at 512 bytes, by another goroutine; nil: they are only quoted in errors.
	Stderr func(line string)
	// Quick is how long the handshake and the reading of a key may take: 10 s. Neither may need the network.
	Quick time.Duration
	// Silence is how long the program may say nothing while it answers: 30 s. Longest is how long an answer may take in all: 5 min.
	Silence, Longest time.Duration
	// Grace is how long it may take to end once its input has: 2 s.
	Grace time.Duration
}

// Provider is a program that knows items. Requests of several goroutines are made one after another. Whether it can be told that work has begun or ended, and
// says beforehand what that changes, is known only once it runs: [providers.ErrUnsupported] says that it can't.
type Provider struct {
	opts    Options
	program string
	// turn holds the process that runs, or nil; whoever has taken it out may use it.
	turn chan *process
	// met is what the program said of itself when it was started last.
	met atomic.Pointer[Hello]
}

var (
	_ providers.Planner  = (*Provider)(nil)
	_ providers.Finisher = (*Provider)(nil)
)

// Open returns the tracker. The program is looked for and started when it is first asked something.
func Open(opts Options) (*Provider, error) {
	if err := CheckName(opts.Name); err != nil {
		return nil, err
	}
	if opts.Settings == nil {
		opts.Settings = map[string]any{}
	}
	if _, err := encode(opts.Settings); err != nil {
		return nil, fmt.Errorf("the settings of provider %s can't be passed on: %w", opts.Name, err)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&opts.Quick, 10 * time.Second}, {&opts.Silence, 30 * time.Second}, {&opts.Longest, 5 * time.Minute}, {&opts.Grace, 2 * time.Second}} {
		if *d.value <= 0 {
			*d.value = d.usual
		}
	}
	p := &Provider{opts: opts, program: prefix + opts.Name, turn: make(chan *process, 1)}
	p.turn <- nil
	return p, nil
}

// Name is the name that settings have for it.
func (p *Provider) Name() string { return p.opts.Name }

// Source is the program's word for what it reads; until it has been asked something, its name.
func (p *Provider) Source() string {
	if h := p.met.Load(); h != nil {
		return h.Source
	}
	return p.program
}

// Hello is what the program says of itself, which starts it.
func (p *Provider) Hello(ctx context.Context) (*Hello, error) {
	var h Hello
	err := p.use(ctx, func(proc *process) error {
		h = *proc.hello
		return nil
	})
	return &h, err
}

// Close ends the program, if it runs. It is started anew if it is asked something later. It waits for requests that are under way.
func (p *Provider) Close() error {
	if proc := <-p.turn; proc != nil {
		proc.end(p.opts.Grace)
	}
	p.turn <- nil
	return nil
}

// use waits for its turn, has the program run, and kills it where f fails with anything but a refusal.
func (p *Provider) use(ctx context.Context, f func(*process) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", p.program, err)
	}
	var proc *process
	select {
	case proc = <-p.turn:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", p.program, ctx.Err())
	}
	defer func() { p.turn <- proc }()
	if proc != nil {
		switch err := proc.idle(); {
		case errors.Is(err, errEnded):
			proc.end(0)
			proc = nil
		case err != nil:
			err = p.blame(proc, "", err)
			proc = nil
			return err
		}
	}
	if proc == nil {
		var err error
		if proc, err = p.meet(ctx); err != nil {
			return err
		}
	}
	err := f(proc)
	if err != nil && !errors.As(err, new(*refusal)) {
		err = p.blame(proc, "", err)
		proc = nil
	}
	return plain(err)
}

// plain is an error without the mark that it was the program's own.
func plain(err error) error {
	var r *refusal
	if errors.As(err, &r) {
		return r.error
	}
	return err
}

// meet starts the program, and shakes hands with it.
func (p *Provider) meet(ctx context.Context) (*process, error) {
	path, err := find(p.program, p.opts.Env)
	if err != nil {
		return nil, err
	}
	proc, err := launch(path, p.opts.Dir, p.opts.Env, p.opts.Stderr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.program, providers.ErrUnavailable, err)
	}
	if err := p.greet(ctx, proc, ""); err != nil {
		return nil, plain(p.blame(proc, "handshake", err))
	}
	p.met.Store(proc.hello)
	return proc, nil
}

// greet is the handshake.
func (p *Provider) greet(ctx context.Context, proc *process, extra string) error {
	settings, err := encode(p.opts.Settings)
	if err != nil {
		return err
	}
	line, err := encode(greeting{Protocol: Protocol, Name: p.opts.Name, Settings: json.RawMessage(bytes.TrimSpace(settings)), Extra: extra})
	if err != nil {
		return err
	}
	return proc.exchange(ctx, line, limits{p.opts.Quick, p.opts.Quick}, func(line []byte) (bool, error) {
		proc.hello, err = decodeHello(line, p.opts.Name, p.program)
		return true, err
	})
}

// blame ends a program that did what err says while it was asked something, and says so.
func (p *Provider) blame(proc *process, asked string, err error) error {
	where := p.program
	var failed *failure
	if errors.As(err, &failed) {
		asked, err = failed.asked, failed.error
	}
	if asked != "" {
		where += ": " + asked
	}
	var broke breach
	switch {
	case errors.Is(err, errEnded):
		err = errors.New(proc.end(reapTime))
	default:
		proc.end(0)
	}
	quote := ""
	if last := proc.tail.last(); len(last) > 0 {
		quote = fmt.Sprintf("; it wrote %q", strings.Join(last, "\n"))
	}
	switch {
	case errors.As(err, new(*refusal)):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, providers.ErrUnsupported):
		return fmt.Errorf("%s: %w", where, err)
	case errors.As(err, &broke):
		return &providers.BrokenError{Where: where, Err: fmt.Errorf("%w%s", err, quote)}
	default:
		return fmt.Errorf("%s: %w: %w%s", where, providers.ErrUnavailable, err, quote)
	}
}

// failure is what went wrong with the program while it was asked something.
type failure struct {
	asked string
	error
}

func (f *failure) Unwrap() error { return f.error }

// ask sends a request, and hands each part of the answer to take until that says that it was the last.
func (p *Provider) ask(ctx context.Context, proc *process, r *request, take func(*answer) (last bool, err error)) error {
	proc.last++
	r.ID = proc.last
	line, err := encode(r)
	if err != nil {
		return &refusal{fmt.Errorf("%s: %s: %w", p.program, r.place(), err)}
	}
	l := limits{p.opts.Silence, p.opts.Longest}
	if r.Op == opParse {
		l = limits{p.opts.Quick, p.opts.Quick}
	}
	err = proc.exchange(ctx, line, l, func(line []byte) (bool, error) {
		a, err := decodeAnswer(line, r.ID)
		switch {
		case err != nil:
			return true, err
		case a.Progress != nil && r.Op != opList:
			return false, nil
		case a.Error != nil && a.Mark == nil && r.Op != opList:
			return true, &refusal{a.Error.err(p.program + ": " + r.place())}
		}
		return take(a)
	})
	if err == nil || errors.As(err, new(*refusal)) {
		return err
	}
	return &failure{r.place(), err}
}

// place names a request in messages.
func (r *request) place() string {
	switch {
	case r.Key != "":
		return r.Op + " " + string(r.Key)
	case r.Text != "":
		return fmt.Sprintf("%s %q", r.Op, r.Text)
	}
	return r.Op
}
