package queue

import (
	"context"
	"errors"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

// Announce tells the trackers of items that this session works on them, and keeps in their claims what that has changed, so that it is known whose doing it
// is, and can be taken back. What a tracker refuses is returned and loses no claim. The error is that the claim could not be written; whatever was announced then
// stands without a word in the claim.
func (q *Queue) Announce(ctx context.Context, entries []Entry, text string) (troubles []SourceError, err error) {
	meta := map[string]string{}
	for i := range entries {
		key := entries[i].Item.Key
		p, ok := q.Providers.Of(key).(providers.Starter)
		if !ok {
			troubles = append(troubles, SourceError{key.Scheme(), providers.ErrUnsupported})
			continue
		}
		mark, err := p.Start(ctx, key, q.worker(text))
		if err != nil {
			troubles = append(troubles, SourceError{p.Name(), err})
		}
		if mark.IsZero() {
			continue
		}
		name, value, err := MarkMeta(key, mark)
		if err != nil { // then nobody could ever take it back
			troubles = append(troubles, SourceError{p.Name(), errors.Join(err, p.Unstart(ctx, key, mark))})
			continue
		}
		meta[name] = value
	}
	if len(meta) == 0 {
		return troubles, nil
	}
	_, err = q.Claims.Claim(ctx, lease.ClaimRequest{Resources: resources(entries), Meta: meta})
	return troubles, err
}

func (q *Queue) worker(text string) providers.Worker {
	return providers.Worker{Agent: q.Agent, Session: q.Session, Text: text}
}

// Finish tells the trackers what has come of work on items, before or after their claims were released.
func (q *Queue) Finish(ctx context.Context, keys []providers.Key, result providers.Result, text string) (troubles []SourceError) {
	for _, key := range keys {
		p, ok := q.Providers.Of(key).(providers.Finisher)
		if !ok {
			troubles = append(troubles, SourceError{key.Scheme(), providers.ErrUnsupported})
			continue
		}
		if err := p.Finish(ctx, key, q.worker(text), result); err != nil {
			troubles = append(troubles, SourceError{p.Name(), err})
		}
	}
	return troubles
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

// Reconcile takes an announcement back, as far as it still stands at the tracker. It changes no claim: whoever takes the resource next finds it free of it.
func (q *Queue) Reconcile(ctx context.Context, s Stale) error {
	p, ok := q.Providers.Of(s.Key).(providers.Starter)
	if !ok {
		return providers.ErrUnsupported
	}
	return p.Unstart(ctx, s.Key, s.Mark)
}
