package lease

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// ErrInUse is returned where an authority is not ended because something stands there that is somebody's. See [InUseError].
var ErrInUse = errors.New("in use")

// InUseError has what stands at the refs and is somebody's: claims that are held or kept for an agent, and what can't be judged.
type InUseError struct{ Views []View }

func (e *InUseError) Error() string {
	names := make([]string, len(e.Views))
	for i, v := range e.Views {
		names[i] = string(v.Resource)
		if v.Resource == "" {
			names[i] = v.Ref
		}
		if v.Record != nil {
			names[i] += " by " + v.Record.Holder.String()
		}
	}
	return fmt.Sprintf("the authority is %v: %s", ErrInUse, strings.Join(names, ", "))
}

// Is links the type to [ErrInUse].
func (e *InUseError) Is(target error) bool { return target == ErrInUse }

// Abolish ends the authority: it deletes every ref below the prefix, the authority's own last, and returns how many. Each is deleted only as it was read. Where there
// is something that is somebody's it deletes nothing and returns an [*InUseError], unless force is set. Clones that know the authority find it gone from then on, and
// nobody is told that anything is free. What is cut short can be repeated.
func (a *Authority) Abolish(ctx Context, force bool) (deleted int, err error) {
	if err := a.checkUnused(ctx, force); err != nil {
		return 0, err
	}
	for try := 1; ; try++ {
		n, err := a.abolishOnce(ctx)
		deleted += n
		if n > 0 {
			try = 0
		}
		switch {
		case err == nil && n == 0:
			return deleted, nil
		case err != nil && (!errors.Is(err, refstore.ErrConflict) || try > abolishTries):
			return deleted, err
		case err != nil && !force: // somebody has written meanwhile
			if err := a.checkUnused(ctx, false); err != nil {
				return deleted, err
			}
		}
	}
}

// abolishTries bounds how often others may be quicker, one time after another.
const abolishTries = 100

// checkUnused refuses to end what is somebody's.
func (a *Authority) checkUnused(ctx Context, force bool) error {
	ctx, cancel := a.attempt(ctx)
	defer cancel()
	views, err := a.List(ctx)
	switch {
	case errors.Is(err, ErrAuthorityGone) && force:
		return nil
	case err != nil:
		return err
	}
	used := slices.DeleteFunc(views, func(v View) bool { return !v.somebodys() })
	if len(used) == 0 || force {
		return nil
	}
	return &InUseError{Views: used}
}

// somebodys says whether a resource is held or kept, or can't be judged.
func (v *View) somebodys() bool {
	switch v.State {
	case StandingFree, StandingReleased, StandingOverlapped:
		return false
	case StandingHeld, StandingReserved:
		return !v.Takeable
	default:
		return true
	}
}

// abolishOnce deletes a batch of refs, and the authority's once it is the only one.
func (a *Authority) abolishOnce(ctx Context) (int, error) {
	ctx, cancel := a.attempt(ctx)
	defer cancel()
	listed, err := a.store.List(ctx, a.refs.prefix)
	if err != nil {
		return 0, err
	}
	rest := slices.DeleteFunc(slices.Clone(listed), func(ref refstore.Ref) bool { return ref.Name == a.refs.meta() })
	if len(rest) == 0 {
		rest = listed
	}
	size := 1
	if a.store.Server().Atomic {
		size = collectBatch
	}
	rest = rest[:min(size, len(rest))]
	if len(rest) == 0 {
		return 0, nil
	}
	changes := make([]refstore.Change, len(rest))
	for i, ref := range rest {
		changes[i] = refstore.Change{Ref: ref.Name, Old: ref.Commit.OID, When: a.moment().stamp()}
	}
	tx, err := a.store.Build(changes...)
	if err != nil {
		return 0, err
	}
	if err := a.store.Swap(ctx, tx, nil); err != nil {
		return 0, fmt.Errorf("delete %s: %w", rest[0].Name, err)
	}
	return len(rest), nil
}
