package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/doctor"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
)

type doctorOptions struct{ deep, repair, noWrite bool }

func newDoctor(a *app) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "examine everything that claims depend on",
		Long: `Examines git, the settings, the remote, what its server does with refs, clocks, this clone's state
and the records at the refs, and says what to do about what is not as it should be. It goes on
after a problem. Exit status 0 unless there is a problem, and then the one that fits the worst: 2
unknown, 6 forbidden, 1 configuration. A warning is no problem.

To find out what the server does, it writes two refs below refs/worklease/probes/, where no
claim is, and deletes them again. With --no-write it only reads.

With --repair it puts a tombstone on top of each corrupt record, and makes the authority's record
anew where that is gone or was rolled back, above all that this clone has seen.

What each finding is about: docs/doctor.md.`,
		Example: `  git worklease doctor
  git worklease doctor --deep --json
  git worklease doctor --repair`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runDoctor(ctx, o) }),
	}
	cmd.Flags().BoolVar(&o.deep, "deep", false, "check the whole past of each claim, and ask public hosts over https as well")
	cmd.Flags().BoolVar(&o.repair, "repair", false, "repair corrupt records and a lost authority")
	cmd.Flags().BoolVar(&o.noWrite, "no-write", false, "write nothing to the remote")
	return cmd
}

func (a *app) runDoctor(ctx context.Context, o doctorOptions) (*outcome, error) {
	if o.repair && o.noWrite {
		return nil, &fault.UsageError{Message: "--no-write does not go with --repair"}
	}
	x := &examination{app: a, o: o}
	x.r.Scene = a.scene()
	if isTerminal(a.err) && !a.flags.json {
		x.r.Progress = func(what string) { fmt.Fprintf(a.err, "\r\x1b[Kchecking %s …", term.Clean(what)) }
		defer fmt.Fprint(a.err, "\r\x1b[K")
	}
	x.run(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("doctor: %w", context.Cause(ctx))
	}
	out := &outcome{result: newDoctorJSON(&x.r), text: func(p *printer) { printFindings(p, &x.r) }}
	if n := x.r.Count(doctor.Problem); n > 0 {
		out.failure = &fault.UnhealthyError{Problems: n, Exit: x.r.Exit()}
	}
	return out, nil
}

// doctorJSON is what was found, for programs.
type doctorJSON struct {
	Problems int              `json:"problems"`
	Warnings int              `json:"warnings"`
	Findings []doctor.Finding `json:"findings"`
}

func newDoctorJSON(r *doctor.Report) doctorJSON {
	return doctorJSON{Problems: r.Count(doctor.Problem), Warnings: r.Count(doctor.Warning), Findings: r.Findings}
}

// levelStyles are how levels look.
var levelStyles = map[doctor.Level]term.Style{doctor.OK: term.Good, doctor.Note: term.Dim, doctor.Warning: term.Warn, doctor.Problem: term.Bad}

func printFindings(p *printer, r *doctor.Report) {
	t := &term.Table{}
	for _, f := range r.Findings {
		t.Row(string(f.Level), string(f.ID), f.What)
		t.Style(0, levelStyles[f.Level])
		if f.Next != "" {
			t.Row("", "", "next: "+f.Next)
			t.Style(2, term.Dim)
		}
	}
	p.table(t)
	if warnings := r.Count(doctor.Warning); r.Count(doctor.Problem) == 0 && warnings == 0 {
		p.printf("all is well\n")
	} else {
		p.printf("problems: %d, warnings: %d\n", r.Count(doctor.Problem), warnings)
	}
}
