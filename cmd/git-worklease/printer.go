package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/git-worklease/git-worklease/internal/term"
)

// printer collects what a command prints for people.
type printer struct {
	buffer  bytes.Buffer
	palette term.Palette
	now     time.Time
	zone    *time.Location
}

func (a *app) printer() *printer {
	return &printer{palette: term.Palette{On: term.Colour(a.colour, isTerminal(a.out), a.getenv)}, now: a.clock.Now(), zone: a.zone()}
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(&p.buffer, format, args...) }

func (p *printer) table(t *term.Table) { p.buffer.WriteString(t.String(p.palette)) }

// at is a point in time and how far it is from now: "17:16 (2 h)".
func (p *printer) at(t time.Time) string {
	return fmt.Sprintf("%s (%s)", term.Clock(t, p.now, p.zone), term.Span(t.Sub(p.now)))
}

// ago is how long ago a point in time was.
func (p *printer) ago(t time.Time) string { return term.Span(p.now.Sub(t)) + " ago" }

// date is a point in time in full.
func (p *printer) date(t time.Time) string { return t.In(p.zone).Format("2006-01-02 15:04:05") }
