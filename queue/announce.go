package queue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

// Announce tells the trackers of items that this session has claimed that it works on them, and keeps in the claims what that changes, so that it is known
// whose doing it is, and can be taken back: before it is done, where the tracker can plan it. What a tracker refuses is returned and loses no claim. The error is
// that the claims could not be written: nothing more is told then, and what can't be noted is taken back; or that ctx has ended.
//
// Records are those of one claim that are items', as they stand.
func (q *Queue) Announce(ctx context.Context, records []*lease.Record, text string) (troubles []SourceError, err error) {
	an := &announcement{q: q, by: q.worker(text)}
	within, cancel := q.limited(ctx) // so that time is left to note what came of it
	defer cancel()
	for _, r := range records {
		an.plan(within, r)
	}
	if err := an.note(ctx); err != nil {
		return an.troubles, err
	}
	for i := range an.items {
		an.tell(within, &an.items[i])
	}
	if err := an.note(ctx); err != nil {
		an.takeBack(ctx)
		return an.troubles, err
	}
	return an.troubles, ctx.Err()
}

// announcement is one call of Announce.
type announcement struct {
	q        *Queue
	by       providers.Worker
	items    []announced
	troubles []SourceError
}

// announced is an item of an announcement.
type announced struct {
	key     providers.Key
	starter providers.Starter
	// before is what was announced before, noted what its claim says, and mark what is so.
	before, noted, mark providers.Mark
}

func (an *announcement) trouble(source string, err error) {
	an.troubles = append(an.troubles, SourceError{source, err})
}

// plan finds out what is to be told. What can't be planned is only told.
func (an *announcement) plan(ctx context.Context, r *lease.Record) {
	key, before := providers.Key(r.Resource), MarkOf(r)
	p, ok := an.q.Providers.Of(key).(providers.Starter)
	if !ok {
		an.trouble(key.Scheme(), providers.ErrUnsupported)
		return
	}
	item := announced{key: key, starter: p, before: before, noted: before, mark: before}
	if planner, ok := p.(providers.Planner); ok {
		mark, err := planner.Plan(ctx, key, an.by)
		if err != nil && mark.IsZero() && !errors.Is(err, providers.ErrUnsupported) { // otherwise Start says what is wrong
			an.trouble(p.Name(), err)
			return
		}
		item.mark = joined(before, mark)
	}
	an.items = append(an.items, item)
}

// tell tells the tracker, which may do less than it has planned. Where it gave no answer in time it may have done all of that, so that stays noted.
func (an *announcement) tell(ctx context.Context, item *announced) {
	mark, err := item.starter.Start(ctx, item.key, an.by)
	if err != nil {
		an.trouble(item.starter.Name(), err)
	}
	if ctx.Err() != nil && mark.IsZero() {
		return
	}
	item.mark = joined(item.before, mark)
	if _, _, err := MarkMeta(item.key, item.mark); err != nil { // then nobody could ever take it back
		an.trouble(item.starter.Name(), errors.Join(err, item.starter.Unstart(ctx, item.key, mark)))
		item.mark = item.before
	}
}

// note writes into the claims what they do not say yet.
func (an *announcement) note(ctx context.Context) error {
	meta := map[string]string{}
	var keys []lease.Resource
	for i := range an.items {
		item := &an.items[i]
		if name, value, err := MarkMeta(item.key, item.mark); err == nil && !reflect.DeepEqual(item.noted, item.mark) {
			meta[name], item.noted = value, item.mark
		}
		keys = append(keys, lease.Resource(item.key))
	}
	if len(meta) == 0 {
		return nil
	}
	_, err := an.q.Claims.Claim(ctx, lease.ClaimRequest{Resources: keys, Meta: meta})
	return err
}

// takeBack takes back what was told and could not be noted.
func (an *announcement) takeBack(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, item := range an.items {
		if item.mark.IsZero() {
			continue
		}
		if err := item.starter.Unstart(ctx, item.key, item.mark); err != nil {
			an.trouble(item.starter.Name(), err)
		}
	}
}

func (q *Queue) worker(text string) providers.Worker {
	return providers.Worker{Agent: q.Agent, Session: q.Session, Text: text}
}

// Finish tells the trackers what has come of the work on items, by the releases that stand: what was announced of work that was given up is taken back. What
// is not released is left alone. text is for people.
func (q *Queue) Finish(ctx context.Context, released []lease.View, text func(*lease.Release) string) (troubles []SourceError) {
	back := map[string]string{}
	var given []lease.Resource
	for i := range released {
		v := &released[i]
		withdrawn, err := q.finish(ctx, v, text)
		if err != nil {
			troubles = append(troubles, SourceError{v.Resource.Scheme(), err})
		}
		if name, nothing, err := MarkMeta(providers.Key(v.Resource), providers.Mark{}); err == nil && withdrawn {
			back[name], given = nothing, append(given, v.Resource)
		}
	}
	if len(given) == 0 {
		return troubles
	}
	// What people write in place of what was taken back is not ours to take back.
	if _, err := q.Claims.Release(ctx, lease.ReleaseRequest{Resources: given, Outcome: lease.OutcomeAbandoned, Meta: back}); err != nil {
		troubles = append(troubles, SourceError{"claims", fmt.Errorf("to note that it was taken back: %w", err)})
	}
	return troubles
}

// finish is Finish for one item. withdrawn says that what was announced of it was taken back.
func (q *Queue) finish(ctx context.Context, v *lease.View, text func(*lease.Release) string) (withdrawn bool, err error) {
	key := providers.Key(v.Resource)
	if v.Record == nil || v.Record.Release == nil {
		return false, nil
	}
	result := providers.Finished
	switch v.Record.Release.Outcome {
	case lease.OutcomeReview:
		result = providers.Reviewing
	case lease.OutcomeAbandoned:
		mark := MarkOf(v.Record)
		if mark.IsZero() {
			return false, nil
		}
		err := q.Reconcile(ctx, Stale{Key: key, Mark: mark})
		return err == nil, err
	}
	p, ok := q.Providers.Of(key).(providers.Finisher)
	if !ok {
		return false, providers.ErrUnsupported
	}
	return false, p.Finish(ctx, key, q.worker(text(v.Record.Release)), result)
}

// Stale is an announcement of a claim that nobody works under any more.
type Stale struct {
	Key  providers.Key
	Mark providers.Mark
	// View is the claim.
	View lease.View
}

// Stales are the announcements of claims that were given up, or whose holders are dead, by what the claims say. Work that was done or is to be reviewed is
// none of that.
func Stales(claims []lease.View) []Stale {
	var stale []Stale
	for _, v := range claims {
		mark := markOf(&v)
		if mark.IsZero() {
			continue
		}
		released := v.State == lease.StandingReleased && v.Record.Release != nil && v.Record.Release.Outcome == lease.OutcomeAbandoned
		if released || v.State == lease.StandingHeld && v.Takeable && !v.Mine {
			stale = append(stale, Stale{providers.Key(v.Resource), mark, v})
		}
	}
	return stale
}

// Stands says whether anything of an announcement still shows at the tracker.
func (q *Queue) Stands(ctx context.Context, s Stale) (bool, error) {
	p := q.Providers.Of(s.Key)
	if p == nil {
		return false, fmt.Errorf("the policy has no tracker %s: %w", s.Key.Scheme(), providers.ErrNoProvider)
	}
	item, err := p.Read(ctx, s.Key)
	switch {
	case errors.Is(err, providers.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	among := func(all []string) func(string) bool {
		return func(one string) bool { return slices.Contains(all, one) }
	}
	return s.Mark.Status != "" && item.Status == s.Mark.Status ||
		slices.ContainsFunc(s.Mark.Assigned, among(item.Assignees)) || slices.ContainsFunc(s.Mark.Labels, among(item.Labels)), nil
}

// Reconcile takes an announcement back, as far as it still stands at the tracker. It changes no claim: whoever takes the resource next finds it free of it.
func (q *Queue) Reconcile(ctx context.Context, s Stale) error {
	p, ok := q.Providers.Of(s.Key).(providers.Starter)
	if !ok {
		return providers.ErrUnsupported
	}
	return p.Unstart(ctx, s.Key, s.Mark)
}
