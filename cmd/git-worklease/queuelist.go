package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/queue"
)

func newQueueList(a *app) *cobra.Command {
	var v queueView
	cmd := &cobra.Command{
		Use:   "list",
		Short: "show open items, and why those that are not ready aren't",
		Long: `Shows the open items of all trackers with who has claimed them, the most urgent first.
What can't be read is named, and the rest shown.`,
		Example: "  git worklease queue list\n  git worklease queue list --view Ready --label bug --json",
		Args:    noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runQueueList(ctx, &v) }),
	}
	v.flags(a, cmd)
	return cmd
}

func (a *app) runQueueList(ctx context.Context, v *queueView) (*outcome, error) {
	w, q, err := a.openQueue(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	view, err := w.view(v, "")
	if err != nil {
		return nil, err
	}
	b, err := w.readBoard(q, &view)
	if err != nil {
		return nil, err
	}
	a.incomplete(b.Troubles)
	return &outcome{result: newQueueBoardJSON(b, a), paged: true, text: func(p *printer) { printQueueBoard(p, b) }}, nil
}

// readBoard reads all sources, and shows meanwhile how far that has come.
func (w *work) readBoard(q *queue.Queue, view *queue.View) (*queue.Board, error) {
	p := w.app.progress(w.ctx, w, 0)
	defer p.stop()
	return q.Read(w.ctx, view, func(read int) {
		p.set(func(time.Time) string { return fmt.Sprintf("%d items read", read) })
	})
}

// queueBoardJSON is a board for programs.
type queueBoardJSON struct {
	Items []queueItemJSON `json:"items"`
	// Incomplete says that something could not be read, so that there may be more items.
	Incomplete bool               `json:"incomplete"`
	Troubles   []queueTroubleJSON `json:"troubles,omitempty"`
	ReadAt     time.Time          `json:"read_at,omitzero"`
}

type queueTroubleJSON struct {
	Source string   `json:"source"`
	Error  *failure `json:"error"`
}

// queueItemJSON is an item with its claim.
type queueItemJSON struct {
	Key       providers.Key     `json:"key"`
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	URL       string            `json:"url,omitempty"`
	State     string            `json:"state"`
	Status    string            `json:"status"`
	Priority  string            `json:"priority,omitempty"`
	Labels    []string          `json:"labels,omitempty"`
	Assignees []string          `json:"assignees,omitempty"`
	Milestone string            `json:"milestone,omitempty"`
	Parent    providers.Key     `json:"parent,omitempty"`
	Needs     []queueNeedJSON   `json:"needs,omitempty"`
	Ready     bool              `json:"ready"`
	Mine      bool              `json:"mine"`
	Why       []queueReasonJSON `json:"why,omitempty"`
	Claim     *viewJSON         `json:"claim,omitempty"`
}

// queueShowJSON is an item, and what could not be read of what it is judged by.
type queueShowJSON struct {
	queueItemJSON
	Incomplete bool               `json:"incomplete"`
	Troubles   []queueTroubleJSON `json:"troubles,omitempty"`
}

type queueNeedJSON struct {
	Key   providers.Key `json:"key,omitempty"`
	Text  string        `json:"text"`
	Kind  string        `json:"kind,omitempty"`
	State string        `json:"state,omitempty"`
}

type queueReasonJSON struct {
	Kind    queue.Kind `json:"kind"`
	Message string     `json:"message"`
}

func newQueueBoardJSON(b *queue.Board, a *app) queueBoardJSON {
	j := queueBoardJSON{Items: make([]queueItemJSON, len(b.Entries)), Incomplete: len(b.Troubles) > 0, Troubles: newQueueTroublesJSON(b.Troubles, a), ReadAt: b.Read}
	for i := range b.Entries {
		j.Items[i] = newQueueItemJSON(&b.Entries[i], a)
	}
	return j
}

func newQueueTroublesJSON(troubles []queue.SourceError, a *app) []queueTroubleJSON {
	var all []queueTroubleJSON
	for _, t := range troubles {
		all = append(all, queueTroubleJSON{t.Source, a.explain(t.Err)})
	}
	return all
}

func newQueueItemJSON(e *queue.Entry, a *app) queueItemJSON {
	i := &e.Item
	j := queueItemJSON{
		Key: i.Key, ID: i.ID, Title: i.Title, URL: i.URL, State: string(i.State), Status: i.Status, Priority: priorityWord(i.Priority), Labels: i.Labels,
		Assignees: i.Assignees, Milestone: i.Milestone, Parent: i.Parent, Ready: e.Ready(), Mine: e.Mine,
	}
	for _, n := range i.Needs {
		j.Needs = append(j.Needs, queueNeedJSON{n.Key, n.Text, n.Kind, string(n.State)})
	}
	for _, r := range e.Why {
		j.Why = append(j.Why, queueReasonJSON{r.Kind, reasonText(r)})
	}
	if e.Claim != nil {
		v := newViewJSON(e.Claim, a)
		j.Claim = &v
	}
	return j
}

func priorityWord(p providers.Priority) string {
	return []string{"", "urgent", "high", "medium", "low", "lowest"}[p]
}

// reasonText says for people why an item can't be taken.
func reasonText(r queue.Reason) string {
	who, name := term.Clean(r.Who), term.Clean(r.Name)
	if name == "" {
		name = term.Clean(string(r.Key))
	}
	switch r.Kind {
	case queue.Closed:
		return "closed: " + who
	case queue.Held:
		return "claimed by " + who
	case queue.Reserved:
		return "reserved for " + who
	case queue.Unknown:
		return strings.TrimSuffix("whether it is claimed is unknown: "+who, ": ")
	case queue.NotYet:
		return "not to be taken yet: " + who
	case queue.Begun:
		return "begun without a claim: " + who
	case queue.Assigned:
		return "assigned to " + who
	case queue.Answered:
		return fmt.Sprintf("released as %s by %s", name, who)
	case queue.PullRequest:
		return "pull request " + name + " is open"
	case queue.Unmerged:
		return "branch " + name + " is not merged"
	case queue.Missing:
		return "needs " + name + ", which is not there"
	case queue.Foreign:
		return "needs " + name + ", which no tracker here knows"
	case queue.Cycle:
		return "needs " + name + ", which waits for it in turn"
	default:
		return strings.TrimSuffix(fmt.Sprintf("needs %s: %s", name, who), ": ")
	}
}

// printQueueBoard shows a board to people.
func printQueueBoard(p *printer, b *queue.Board) {
	if len(b.Entries) == 0 {
		p.printf("no items\n")
		return
	}
	t := &term.Table{}
	for i := range b.Entries {
		e := &b.Entries[i]
		t.Row(term.Clean(e.Item.ID), priorityWord(e.Item.Priority), standingWord(e), clipped(term.Clean(e.Item.Title)))
		if e.Ready() {
			t.Style(2, term.Good)
		}
	}
	p.table(t)
}

// standingWord is an entry's standing in few words.
func standingWord(e *queue.Entry) string {
	switch {
	case e.Mine:
		return "mine"
	case e.Ready() && e.Claim != nil && e.Claim.State == lease.StandingHeld:
		return "ready, to be taken over"
	case e.Ready():
		return "ready"
	case len(e.Why) > 1:
		return fmt.Sprintf("%s, and %d more", reasonText(e.Why[0]), len(e.Why)-1)
	default:
		return reasonText(e.Why[0])
	}
}

// maxTitle is how many characters of a title a line has.
const maxTitle = 60

func clipped(title string) string {
	if runes := []rune(title); len(runes) > maxTitle {
		return string(runes[:maxTitle-1]) + "…"
	}
	return title
}

func newQueueShow(a *app) *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use:   "show KEY",
		Short: "show one item, and everything that keeps it from being taken",
		Long:  "Shows an item of a tracker with its claim, and whether it is ready.", Example: "  git worklease queue show 42",
		ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			if len(args) != 1 {
				return nil, &fault.UsageError{Message: "queue show: one key is needed", Hint: "write the key, such as 42; a shell takes an unquoted #42 for a comment"}
			}
			return a.runQueueShow(ctx, args[0], again)
		}),
	}
	cmd.Flags().BoolVar(&again, "again", false, "leave out that its work was answered")
	return cmd
}

func (a *app) runQueueShow(ctx context.Context, key string, again bool) (*outcome, error) {
	w, q, err := a.openQueue(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	e, troubles, err := q.Show(w.ctx, key, again)
	if err != nil {
		return nil, err
	}
	a.incomplete(troubles)
	j := queueShowJSON{newQueueItemJSON(e, a), len(troubles) > 0, newQueueTroublesJSON(troubles, a)}
	return &outcome{result: j, text: func(p *printer) { printQueueItem(p, e) }}, nil
}

// printQueueItem shows one item to people.
func printQueueItem(p *printer, e *queue.Entry) {
	p.printf("%s\n", itemText(e))
	t := &term.Table{}
	row := func(name, text string) {
		if text != "" {
			t.Row("  "+name, term.Clean(text))
		}
	}
	row("key", string(e.Item.Key))
	row("at", e.Item.URL)
	row("status", e.Item.Status)
	row("priority", priorityWord(e.Item.Priority))
	row("labels", strings.Join(e.Item.Labels, ", "))
	row("assigned", strings.Join(e.Item.Assignees, ", "))
	row("milestone", e.Item.Milestone)
	row("part of", string(e.Item.Parent))
	if e.Ready() {
		row("ready", "yes")
	}
	for _, r := range e.Why {
		row("not ready", reasonText(r))
	}
	p.table(t)
}
