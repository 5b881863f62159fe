package lease

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Awaited is what a watch waits for.
type Awaited string

// What a watch can wait for.
const (
	// AwaitFree: this session could claim all of the resources, of a pool any slot.
	AwaitFree Awaited = "free"
	// AwaitChange: the ref of any of the resources has moved since the first look.
	AwaitChange Awaited = "change"
)

// WatchRequest names resources and what to wait for.
type WatchRequest struct {
	Resources []Resource
	// Until is "" for [AwaitFree].
	Until Awaited
	// For is how long to look; 0: until ctx ends.
	For time.Duration
	// Tell is told of each look that another follows: what it showed, or why nothing could be seen. It must not wait for anything. Nil: nobody
	// is told.
	Tell func(views []View, err error)
}

// Watch looks at resources, in growing pauses, until what is waited for has happened, and returns what it saw then. It writes no ref. What can't be
// judged is neither free nor changed, and a remote that does not answer is waited for; what can't pass by itself ends the watch. Once the time is
// up it returns what it saw last, with [ErrTimeUp], or the error of the last look where that failed.
func (a *Authority) Watch(ctx Context, req WatchRequest) ([]View, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	w := &watcher{rests: a.rests(req.For), req: req, first: map[Resource]refstore.OID{}}
	for {
		views, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("watch: %w", ctx.Err())
		case err != nil && (!passes(err) || w.over()):
			return nil, err
		case err == nil && w.happened(views):
			return views, nil
		case err == nil && w.over():
			return views, ErrTimeUp
		}
		if req.Tell != nil {
			req.Tell(views, err)
		}
		if err := w.rest(ctx, w.wake(views)); err != nil {
			return nil, fmt.Errorf("watch: %w", err)
		}
	}
}

func (r *WatchRequest) check() error {
	switch {
	case r.For < 0:
		return fmt.Errorf("%w: watch of %s", ErrBadRequest, r.For)
	case len(r.Resources) == 0:
		return fmt.Errorf("%w: no resource to watch", ErrBadRequest)
	}
	switch r.Until {
	case "":
		r.Until = AwaitFree
	case AwaitFree, AwaitChange:
	default:
		return fmt.Errorf("%w: watch until %q", ErrBadRequest, r.Until)
	}
	return nil
}

// watcher is one call of Watch.
type watcher struct {
	*rests
	req WatchRequest
	// first are the tips that were seen first.
	first map[Resource]refstore.OID
}

func (w *watcher) look(ctx Context) ([]View, error) {
	ctx, cancel := w.attempt(ctx)
	defer cancel()
	return w.Status(ctx, w.req.Resources...)
}

// happened says whether the views show what is waited for.
func (w *watcher) happened(views []View) bool {
	if w.req.Until == AwaitChange {
		return w.changed(views)
	}
	return !slices.ContainsFunc(w.req.Resources, func(r Resource) bool {
		free, _ := free(r, views)
		return !free
	})
}

// free says whether r can be claimed, or else when that can be done; of a pool that is any of its slots.
func free(r Resource, views []View) (now bool, at time.Time) {
	for i := range views {
		v := &views[i]
		switch {
		case v.Resource != r && !v.Resource.in(r):
		case v.Takeable:
			return true, time.Time{}
		case at.IsZero() || !v.TakeableAt.IsZero() && v.TakeableAt.Before(at):
			at = v.TakeableAt
		}
	}
	return false, at
}

// changed compares with what was seen first of each resource. Of a ref that went back nothing is concluded.
func (w *watcher) changed(views []View) bool {
	for i := range views {
		v := &views[i]
		if v.State == StandingRolledBack {
			continue
		}
		if first, seen := w.first[v.Resource]; seen && first != v.Tip {
			return true
		}
		w.first[v.Resource] = v.Tip
	}
	return false
}

// wake is when the last of the resources becomes free by itself; zero where that is not known, or not waited for.
func (w *watcher) wake(views []View) time.Time {
	var last time.Time
	for _, r := range w.req.Resources {
		if now, at := free(r, views); w.req.Until == AwaitFree && !now {
			last = later(last, at)
		}
	}
	return last
}
