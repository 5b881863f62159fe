package beads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// Start has bd claim the issue for the agent. bd claims only what is open, so of another status and assignee it is told both. It returns
// [providers.ErrTaken], wrapped, where another is assigned, and [providers.ErrUnsupported] for a closed issue and without bd.
func (p *Provider) Start(ctx context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	r, wanted, err := p.starting(ctx, key, by)
	if err != nil || difference(r, wanted).IsZero() {
		return providers.Mark{}, err
	}
	refused, err := p.write(ctx, "update", append(claiming(r, wanted), "--", r.ID)...)
	if err != nil {
		return providers.Mark{}, err
	}
	after, err := p.record(ctx, key)
	switch {
	case err != nil:
		return providers.Mark{}, err
	case after.Assignee != "" && after.Assignee != by.Agent:
		return providers.Mark{}, taken(after)
	case after.state != providers.Started || after.Assignee != by.Agent:
		return providers.Mark{}, notDone(refused, "update", after)
	}
	return difference(r, after), nil
}

// Plan implements [providers.Planner].
func (p *Provider) Plan(ctx context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	r, wanted, err := p.starting(ctx, key, by)
	if err != nil {
		return providers.Mark{}, err
	}
	return difference(r, wanted), nil
}

// starting reads an issue that work is to begin on, and says what it is to become.
func (p *Provider) starting(ctx context.Context, key providers.Key, by providers.Worker) (r, wanted *record, err error) {
	r, err = p.announced(ctx, key)
	switch {
	case err != nil:
		return nil, nil, err
	case r.state.Closed():
		return nil, nil, fmt.Errorf("%s is %s, and work on it can't begin: %w", r.ID, r.Status, providers.ErrUnsupported)
	case r.Assignee != "" && r.Assignee != by.Agent:
		return nil, nil, taken(r)
	}
	become := *r
	become.Assignee = by.Agent
	if r.state != providers.Started {
		become.Status = "in_progress"
	}
	return r, &become, nil
}

// claiming are the flags that make of an issue what is wanted.
func claiming(r, wanted *record) []string {
	args := []string{"--actor=" + wanted.Assignee}
	if r.Status == "open" {
		return append(args, "--claim")
	}
	if r.Status != wanted.Status {
		args = append(args, "--status="+wanted.Status)
	}
	return append(args, "--assignee="+wanted.Assignee)
}

// taken says whose the issue is.
func taken(r *record) error {
	return fmt.Errorf("%s is assigned to %s: %w", r.ID, clip(r.Assignee), providers.ErrTaken)
}

// notDone says that bd did not do what it was told to.
func notDone(refused *refusal, command string, r *record) error {
	if refused == nil {
		return &providers.BrokenError{Where: "bd " + command, Err: fmt.Errorf("it reported no failure, and %s is as before", r.ID)}
	}
	return fmt.Errorf("%s: %w", refused.Error(), providers.ErrUnsupported)
}

// difference is what has changed between two readings.
func difference(before, after *record) providers.Mark {
	var m providers.Mark
	if before.Status != after.Status {
		m.Status, m.WasStatus = after.Status, before.Status
	}
	if before.Assignee != after.Assignee {
		m.Assigned = []string{after.Assignee}
	}
	return m
}

// announced reads an issue that bd is to be told about.
func (p *Provider) announced(ctx context.Context, key providers.Key) (*record, error) {
	if _, err := p.id(key); err != nil {
		return nil, err
	}
	if p.program == "" {
		return nil, fmt.Errorf("bd is not used, and nothing else may write its issues: %w", providers.ErrUnsupported)
	}
	return p.record(ctx, key)
}

// write has bd change an issue. What bd refuses is no error yet: bd ends with 1 for whatever it does not like, and the issue shows what has become of it.
func (p *Provider) write(ctx context.Context, command string, args ...string) (refused *refusal, err error) {
	_, err = p.run(ctx, command, args...)
	if errors.As(err, &refused) {
		return refused, nil
	}
	return nil, err
}

// Unstart gives the issue back: the assignee if it is still the one that Start has set, and the status unless it was changed, or another was assigned.
// bd has no exchange for that, so a change within the moment between reading and writing is lost.
func (p *Provider) Unstart(ctx context.Context, key providers.Key, mark providers.Mark) error {
	r, err := p.announced(ctx, key)
	if err != nil {
		return err
	}
	args := restoring(r, mark)
	if len(args) == 0 {
		return nil
	}
	refused, err := p.write(ctx, "update", append(args, "--", r.ID)...)
	if err != nil || refused == nil {
		return err
	}
	after, err := p.record(ctx, key)
	if err != nil || len(restoring(after, mark)) == 0 {
		return err
	}
	return notDone(refused, "update", after)
}

// restoring are the flags that take a mark back, as far as it stands.
func restoring(r *record, mark providers.Mark) []string {
	var args []string
	ours := slices.Contains(mark.Assigned, r.Assignee)
	if r.Assignee != "" && ours {
		args = append(args, "--assignee=")
	}
	others := r.Assignee != "" && len(mark.Assigned) > 0 && !ours
	if mark.Status != "" && r.Status == mark.Status && !r.state.Closed() && !others && isStatus(mark.WasStatus) {
		args = append(args, "--status="+mark.WasStatus)
	}
	return args
}

// isStatus says whether a status can be gone back to: a word as bd takes it, which closes nothing.
func isStatus(s string) bool {
	odd := strings.ContainsFunc(s, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' })
	return s != "" && !odd && !stateOf(s).Closed()
}

// Finish closes the issue with the worker's words as the reason, or where there is a review notes in it that there is. bd refuses to close an issue that
// waits for others, or an epic with open children: then Finish returns [providers.ErrUnsupported], wrapped, with bd's words.
func (p *Provider) Finish(ctx context.Context, key providers.Key, by providers.Worker, result providers.Result) error {
	r, err := p.announced(ctx, key)
	if err != nil || done(r, by, result) {
		return err
	}
	command, args := "update", []string{"--append-notes=" + note(by)}
	if result == providers.Finished {
		command, args = "close", []string{"--reason=" + line(by, "done")}
	}
	refused, err := p.write(ctx, command, append(args, "--actor="+by.Agent, "--", r.ID)...)
	if err != nil || refused == nil {
		return err
	}
	after, err := p.record(ctx, key)
	if err != nil || done(after, by, result) {
		return err
	}
	return notDone(refused, command, after)
}

// done says whether an issue shows what was to be noted. Nothing is added to one that is closed.
func done(r *record, by providers.Worker, result providers.Result) bool {
	if r.state.Closed() || result == providers.Finished {
		return r.state.Closed()
	}
	var notes string
	if r.Notes != nil && json.Unmarshal(r.Notes, &notes) != nil {
		return false
	}
	return slices.Contains(strings.Split(notes, "\n"), note(by))
}

// note is the line that a review leaves in the notes.
func note(by providers.Worker) string { return "in review: " + line(by, "work") }

// line is what a worker says, in one line.
func line(by providers.Worker, what string) string {
	if text := strings.Join(strings.Fields(by.Text), " "); text != "" {
		return text
	}
	return what + " by " + by.Agent
}
