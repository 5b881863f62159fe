package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

const porcelainHelp = `With --porcelain each resource is one line that stays the same over versions: state, liveness,
"mine" or "-", generation, expiry in seconds since 1970, agent, session, resource, divided by
tabs; "-" stands for what there is none of. The resource comes last, as it is; in the others
tabs and line breaks are escaped. -z ends the lines with NUL instead of a line feed.`

func porcelainFlags(cmd *cobra.Command, porcelain, nul *bool) {
	cmd.Flags().BoolVar(porcelain, "porcelain", false, "print a stable format for scripts")
	cmd.Flags().BoolVarP(nul, "null", "z", false, "with --porcelain: end lines with NUL")
}

func nulNeedsPorcelain(porcelain, nul bool) error {
	if nul && !porcelain {
		return &fault.UsageError{Message: "-z goes with --porcelain"}
	}
	return nil
}

// viewJSON is one resource for programs.
type viewJSON struct {
	Resource   lease.Resource `json:"resource"`
	Ref        string         `json:"ref"`
	State      lease.Standing `json:"state"`
	Liveness   lease.Liveness `json:"liveness,omitempty"`
	Mine       bool           `json:"mine"`
	Takeable   bool           `json:"takeable"`
	Observed   bool           `json:"observed,omitempty"`
	ExpiresAt  *time.Time     `json:"expires_at,omitempty"`
	LeftSecs   *int64         `json:"time_left_seconds,omitempty"`
	TakeableAt *time.Time     `json:"takeable_at,omitempty"`
	Record     *recordJSON    `json:"record,omitempty"`
	Rival      *recordJSON    `json:"rival,omitempty"`
	Error      *failure       `json:"error,omitempty"`
}

func newViewJSON(v *lease.View, a *app) viewJSON {
	j := viewJSON{Resource: v.Resource, Ref: v.Ref, State: v.State, Liveness: v.Liveness, Mine: v.Mine, Takeable: v.Takeable, Observed: v.Observed}
	if !v.Deadline.IsZero() {
		until, left := seconds(v.Deadline), int64(v.Left.Seconds())
		j.ExpiresAt, j.LeftSecs = &until, &left
	}
	if !v.TakeableAt.IsZero() {
		at := seconds(v.TakeableAt)
		j.TakeableAt = &at
	}
	if v.Record != nil {
		r := newRecordJSON(v.Record)
		j.Record = &r
	}
	if v.Rival != nil {
		r := newRecordJSON(v.Rival.Record)
		j.Rival = &r
	}
	if v.Problem != nil {
		j.Error = a.explain(v.Problem)
	}
	return j
}

// showViews is the outcome of a command that lists resources.
func (a *app) showViews(views []lease.View, porcelain, nul bool, none string) *outcome {
	o := &outcome{}
	if a.flags.json {
		js := make([]viewJSON, len(views))
		for i := range views {
			js[i] = newViewJSON(&views[i], a)
		}
		o.result = js
	}
	o.text = func(p *printer) {
		switch {
		case porcelain:
			printPorcelain(p, views, nul)
		case len(views) == 0:
			p.printf("%s\n", none)
		default:
			printViews(p, views)
		}
	}
	return o
}

func printPorcelain(p *printer, views []lease.View, nul bool) {
	end := "\n"
	if nul {
		end = "\x00"
	}
	for i := range views {
		v := &views[i]
		mine, generation, until, agent, session := "-", "-", "-", "-", "-"
		if v.Mine {
			mine = "mine"
		}
		if v.Record != nil {
			generation = fmt.Sprint(v.Record.Generation)
			agent, session = term.Clean(v.Record.Holder.Agent), term.Clean(v.Record.Holder.Session)
		}
		if !v.Deadline.IsZero() {
			until = fmt.Sprint(v.Deadline.Unix())
		}
		name := string(v.Resource)
		if name == "" {
			name = term.Clean(v.Ref)
		}
		p.printf("%s%s", strings.Join([]string{string(v.State), orDash(string(v.Liveness)), mine, generation, until, agent, session, name}, "\t"), end)
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func printViews(p *printer, views []lease.View) {
	t := &term.Table{}
	t.Row("RESOURCE", "STATE", "GEN", "TIME", "HOLDER", "PURPOSE")
	for column := range 6 {
		t.Style(column, term.Dim)
	}
	for i := range views {
		viewRow(p, t, &views[i])
	}
	p.table(t)
}

func viewRow(p *printer, t *term.Table, v *lease.View) {
	name := term.Clean(string(v.Resource))
	if name == "" {
		name = term.Clean(v.Ref)
	}
	generation, holder, purpose := "", "", ""
	if r := v.Record; r != nil {
		generation, holder, purpose = fmt.Sprint(r.Generation), fault.Holder(r.Holder), term.Clean(r.Purpose)
	}
	switch v.State {
	case lease.StandingReserved:
		holder = "for " + term.Clean(v.Record.Release.ReservedFor)
	case lease.StandingOverlapped:
		holder, purpose = rivalWords(v.Rival), term.Clean(v.Rival.Record.Purpose)
	}
	state, style := viewState(v)
	t.Row(name, state, generation, viewTime(p, v), holder, purpose)
	t.Style(1, style)
}

// rivalWords says who has a path that overlaps, and which.
func rivalWords(e *lease.HeldError) string {
	path := term.Clean(string(e.Resource))
	if e.Reserved {
		return fmt.Sprintf("for %s, by %s", term.Clean(e.Record.Release.ReservedFor), path)
	}
	return fmt.Sprintf("%s, by %s", fault.Holder(e.Record.Holder), path)
}

// viewState is the state in a word or two, and how it stands out.
func viewState(v *lease.View) (string, term.Style) {
	switch {
	case v.State == lease.StandingHeld && v.Mine && v.Liveness == lease.Live:
		return "yours", term.Good
	case v.State == lease.StandingHeld && v.Mine:
		return "yours, " + string(v.Liveness), term.Warn
	case v.State == lease.StandingHeld && v.Liveness == lease.Live:
		return "held", term.Bold
	case v.State == lease.StandingHeld:
		return string(v.Liveness), term.Warn
	case v.State == lease.StandingOverlapped:
		return string(v.State), term.Bold
	case v.State == lease.StandingFree, v.State == lease.StandingReleased, v.State == lease.StandingReserved:
		return string(v.State), term.Plain
	default:
		return string(v.State), term.Bad
	}
}

// viewTime is the time that matters most of a resource.
func viewTime(p *printer, v *lease.View) string {
	switch {
	case v.State == lease.StandingReleased && v.Record.Release != nil:
		return p.ago(v.Record.Release.At)
	case v.Deadline.IsZero() || errors.Is(v.Problem, lease.ErrPending):
		return ""
	case v.Left > 0:
		return term.Span(v.Left) + " left"
	case v.TakeableAt.After(p.now) && !v.Mine:
		return "free in " + term.Span(v.TakeableAt.Sub(p.now))
	default:
		return term.Span(v.Left) + " over"
	}
}
