package term

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"
)

// defaultColumns are those of a terminal that doesn't say how wide it is.
const defaultColumns = 80

// LiveLine is one line of a terminal that rewrites itself, without any control sequence but the carriage return. It is safe for use by several
// goroutines. All methods may be called on nil, and then do nothing.
type LiveLine struct {
	out io.Writer
	// columns is asked each time, because windows change.
	columns func() int
	sleep   func(ctx context.Context, d time.Duration) error

	mu sync.Mutex
	// shown is how many columns are covered now.
	shown int
	held  int
}

// NewLiveLine makes a line on a terminal, at whose left border the cursor must be. columns is its width, 0 where it is not known; sleep waits, or returns
// the error of its context.
func NewLiveLine(out io.Writer, columns func() int, sleep func(context.Context, time.Duration) error) *LiveLine {
	return &LiveLine{out: out, columns: columns, sleep: sleep}
}

// Show replaces the line by a text, which must be clean. It is cut to the terminal's width, so that it never takes two lines.
func (l *LiveLine) Show(text string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == 0 {
		l.draw(text)
	}
}

func (l *LiveLine) draw(text string) {
	columns := l.columns()
	if columns <= 0 {
		columns = defaultColumns
	}
	columns-- // in the last one some terminals begin a new line
	text = Cut(text, columns)
	n := Cells(text)
	l.write("\r" + text + strings.Repeat(" ", max(0, min(l.shown, columns)-n)))
	l.shown = n
}

// Clear takes the line away, for what else is to be printed.
func (l *LiveLine) Clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *LiveLine) clear() {
	if l.shown > 0 {
		l.draw("")
		l.write("\r")
	}
}

// Hold takes the line away until resume is called, while somebody else has the terminal.
func (l *LiveLine) Hold() (resume func()) {
	if l == nil {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	l.held++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held--
	})
}

// Run shows what text returns, anew each second, until ctx ends, and then takes the line away. An empty text shows nothing.
func (l *LiveLine) Run(ctx context.Context, text func() string) {
	if l == nil {
		return
	}
	defer l.Clear()
	for ctx.Err() == nil {
		if line := text(); line != "" {
			l.Show(line)
		}
		if l.sleep(ctx, time.Second) != nil {
			return
		}
	}
}

// write can't fail in a way that matters: what is lost is a line that is about to be rewritten.
func (l *LiveLine) write(s string) { _, _ = io.WriteString(l.out, s) }
