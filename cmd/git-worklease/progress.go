package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	xterm "golang.org/x/term"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// progress shows people how a wait goes: on a terminal by a line that rewrites itself, elsewhere by one line for each new thing that is in the
// way. Programs are shown nothing.
type progress struct {
	*app
	// total is how long it may take, 0 for as long as it needs, and until is when that is over.
	total time.Duration
	until time.Time
	stop  func()

	mu   sync.Mutex
	text func(now time.Time) string
	told map[string]bool
}

// progress begins to show a wait. Whoever began it calls stop at its end. Once ctx is over, a second interrupt ends the program at once.
func (a *app) progress(ctx context.Context, w *work, total time.Duration) *progress {
	p := &progress{app: a, total: total, until: a.clock.Now().Add(total), told: map[string]bool{}}
	forget := context.AfterFunc(ctx, func() {
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		p.set(func(time.Time) string { return "finishing what is under way · interrupt again to end at once" })
	})
	if !w.livesOnTerminal() {
		p.stop = func() { forget() }
		return p
	}
	a.line = term.NewLiveLine(a.err, a.columns, a.clock.Sleep)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var line sync.WaitGroup
	line.Go(func() { a.line.Run(running, p.now) })
	p.stop = func() {
		forget()
		cancel()
		line.Wait()
	}
	return p
}

// livesOnTerminal says whether a person looks at a terminal that a line can be rewritten on.
func (w *work) livesOnTerminal() bool {
	a := w.app
	return !a.flags.json && isTerminal(a.err) && a.getenv("TERM") != "dumb" && a.getenv("CI") == "" && w.identity.Runtime == ""
}

// columns is how wide the terminal of the standard error is, 0 where that can't be told.
func (a *app) columns() int {
	f, ok := a.err.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := xterm.GetSize(int(f.Fd())) //nolint:gosec // a file descriptor fits
	if err != nil {
		return 0
	}
	return columns
}

// now is the text of this moment.
func (p *progress) now() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == nil {
		return ""
	}
	return p.text(p.clock.Now())
}

func (p *progress) set(text func(time.Time) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
}

// tell changes what is shown. what names it, so that it is said only once where lines stay.
func (p *progress) tell(what string, text func(now time.Time) string) {
	if p.total > 0 {
		bare := text
		text = func(now time.Time) string {
			return bare(now) + " · giving up in " + term.Span(max(0, p.until.Sub(now)))
		}
	}
	p.set(text)
	if p.line != nil || p.flags.json || p.told[what] {
		return
	}
	p.told[what] = true
	fmt.Fprintf(p.err, "%s %s\n", p.palette.Paint(term.Warn, "notice:"), text(p.clock.Now()))
}

// obstacle puts into words what is in the way of something that is done about resources, and names it.
func (p *progress) obstacle(doing string, resources []lease.Resource, err error) (what string, text func(now time.Time) string) {
	var held *lease.HeldError
	if errors.As(err, &held) {
		doing += term.Clean(string(held.Resource)) + " · "
		return fmt.Sprint(held.Record.Claim, held.Reserved), func(now time.Time) string { return doing + heldWords(held, now) }
	}
	f := fault.Explain(err, p.scene())
	return f.Reason, func(time.Time) string { return doing + few(resources) + " · " + f.Message }
}

// few names the first of some resources, and says how many more there are.
func few(resources []lease.Resource) string {
	name := term.Clean(string(resources[0]))
	if more := len(resources) - 1; more > 0 {
		name += fmt.Sprintf(" and %d more", more)
	}
	return name
}

// heldWords say who has a resource, whether they were heard of in time, for how long they have it, and what for.
func heldWords(e *lease.HeldError, now time.Time) string {
	left := term.Span(max(0, e.Until.Sub(now))) + " left"
	if e.Reserved {
		return fmt.Sprintf("reserved for %s · %s", term.Clean(e.Record.Release.ReservedFor), left)
	}
	liveness := e.Liveness
	if liveness == lease.Live && !e.Until.After(now) {
		liveness = lease.Expired // since it was read
	}
	if liveness != lease.Live {
		left = "free in " + term.Span(max(0, e.TakeableAt.Sub(now)))
	}
	words := []string{"held by " + fault.Holder(e.Record.Holder), string(liveness) + ", " + left}
	if e.Record.Purpose != "" {
		words = append(words, term.Clean(e.Record.Purpose))
	}
	return strings.Join(words, " · ")
}
