package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

func newSessionList(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "show the sessions of this clone and their claims",
		Long: `Shows the sessions of this clone that hold something, and the one that commands here speak
for, marked by an asterisk. It is what this clone remembers, by this machine's clock: the
remote is not asked, and only status and verify say what stands there.`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runSessionList(ctx, all) }),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also those that hold nothing")
	return cmd
}

// sessionRow is one session of the clone for programs.
type sessionRow struct {
	Session string `json:"session,omitempty"`
	File    string `json:"file,omitempty"`
	// Current: commands here speak for it; Origin and Env say why.
	Current bool           `json:"current"`
	Origin  session.Origin `json:"origin,omitempty"`
	Env     string         `json:"env,omitempty"`
	// Bound: session use gave this worktree its name.
	Bound  bool          `json:"bound"`
	Claims []sessionHold `json:"claims"`
	Error  *failure      `json:"error,omitempty"`
}

// sessionHold is a claim as this clone remembers it. It holds no key.
type sessionHold struct {
	Claim     lease.ClaimID `json:"claim"`
	Agent     string        `json:"agent"`
	Worktree  string        `json:"worktree,omitempty"`
	Resources []memberJSON  `json:"resources"`
	ExpiresAt time.Time     `json:"expires_at"`
	LeftSecs  int64         `json:"time_left_seconds"`
}

func (a *app) runSessionList(ctx context.Context, all bool) (*outcome, error) {
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	sessions, err := w.state.Sessions()
	if err != nil {
		return nil, err
	}
	bound, err := w.place.Bound()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(sessions, func(s session.Summary) bool { return s.Name == w.identity.Session }) {
		sessions = append(sessions, session.Summary{Name: w.identity.Session})
	}
	rows, failure := []sessionRow{}, error(nil)
	for _, s := range sessions {
		row := a.sessionRow(s, &w.identity, bound)
		if all || row.Current || row.Error != nil || len(row.Claims) > 0 {
			rows = append(rows, row)
		}
		if failure == nil {
			failure = s.Err
		}
	}
	return &outcome{result: rows, failure: failure, text: func(p *printer) {
		p.printf("this session is %s, by %s\n", p.palette.Paint(term.Good, term.Clean(w.identity.Session)), term.Clean(w.identity.Source()))
		printSessions(p, rows)
	}}, nil
}

func (a *app) sessionRow(s session.Summary, id *session.Identity, bound string) sessionRow {
	row := sessionRow{Session: s.Name, Current: s.Name == id.Session, Bound: s.Name != "" && s.Name == bound, Claims: []sessionHold{}}
	if row.Current {
		row.Origin, row.Env = id.Origin, id.Env
	}
	if s.Err != nil {
		row.Error = a.explain(s.Err)
	}
	if s.Name == "" {
		row.File = s.File
	}
	now, at := a.clock.Now(), a.clock.Instant()
	for _, h := range s.Holds {
		if h.End != nil {
			continue
		}
		left := h.Left(now, at)
		row.Claims = append(row.Claims, sessionHold{
			Claim: h.Claim, Agent: h.Holder.Agent, Worktree: s.Worktrees[h.Claim], Resources: members(h.Members),
			ExpiresAt: seconds(now.Add(left)), LeftSecs: int64(left.Seconds()),
		})
	}
	return row
}

func printSessions(p *printer, rows []sessionRow) {
	t := &term.Table{}
	t.Row("", "SESSION", "AGENT", "RESOURCE", "GEN", "TIME", "WORKTREE")
	for column := range 7 {
		t.Style(column, term.Dim)
	}
	for _, row := range rows {
		printSession(t, &row)
	}
	p.table(t)
}

func printSession(t *term.Table, row *sessionRow) {
	mark, name := "", term.Clean(row.Session)
	if row.Current {
		mark = "*"
	}
	if row.Session == "" {
		name = term.Clean(row.File)
	}
	if len(row.Claims) == 0 || row.Error != nil {
		words := "nothing"
		if row.Error != nil {
			words = row.Error.Reason
		}
		t.Row(mark, name, "", words)
		t.Style(3, term.Dim)
	}
	for _, c := range row.Claims {
		for _, m := range c.Resources {
			sessionMember(t, mark, name, &c, m)
		}
	}
}

func sessionMember(t *term.Table, mark, name string, c *sessionHold, m memberJSON) {
	worktree := "main"
	if c.Worktree != "" {
		worktree = term.Clean(c.Worktree)
	}
	left := time.Duration(c.LeftSecs) * time.Second
	words := term.Span(left) + " left"
	if left <= 0 {
		words = term.Span(left) + " over"
	}
	t.Row(mark, name, term.Clean(c.Agent), term.Clean(string(m.Resource)), generation(m.Generation), words, worktree)
}
