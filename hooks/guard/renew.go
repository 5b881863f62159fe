package guard

import (
	"context"
	"errors"
	"slices"

	"github.com/git-worklease/git-worklease/lease"
)

// Renew renews this session's claims that are due, so that whoever works keeps them; those that are dead by the strictest terms stay so. It returns why
// some could not be renewed. A remote that was silent a moment ago is not asked.
func (g *Guard) Renew(ctx context.Context) []error {
	if g.State == nil {
		return nil
	}
	holds, _, err := g.State.Accepted(g.Named)
	if err != nil {
		return []error{err}
	}
	due := slices.DeleteFunc(holds, func(h lease.Hold) bool {
		return !g.due(&h) || !g.own(&h) || g.left(&h) < -(3*h.TTL+h.Grace)
	})
	if len(due) == 0 || g.silent(g.State.Glance()) != nil {
		return nil
	}
	ctx, cancel := hurried(ctx)
	defer cancel()
	var errs []error
	for _, f := range g.renew(ctx, due) {
		if !slices.ContainsFunc(errs, func(e error) bool { return errors.Is(e, f.err) }) {
			errs = append(errs, f.err)
		}
	}
	return errs
}
