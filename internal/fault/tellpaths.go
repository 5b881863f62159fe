package fault

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// overlapped names what is held, and the path that was wanted where it is another.
func overlapped(e *lease.HeldError) string {
	name := term.Clean(string(e.Resource))
	if e.Wanted == "" || e.Wanted == e.Resource {
		return name
	}
	return fmt.Sprintf("%s overlaps with %s, which", term.Clean(string(e.Wanted)), name)
}

// inPool says of a refusal that it is that of a whole pool.
func inPool(e *lease.HeldError, message string) string {
	switch e.Slots {
	case 0:
		return message
	case 1:
		return fmt.Sprintf("the only slot of %s is taken: %s", term.Clean(string(e.Pool)), message)
	default:
		return fmt.Sprintf("all %d slots of %s are taken; next to come free: %s", e.Slots, term.Clean(string(e.Pool)), message)
	}
}

type poolDetails struct {
	Resource lease.Resource `json:"resource"`
	Slots    int            `json:"slots"`
}

func tellPool(f *Fault, err error, _ Scene) {
	var e *lease.PoolError
	if !errors.As(err, &e) {
		return
	}
	pool, _, _ := strings.Cut(strings.TrimPrefix(term.Clean(string(e.Resource)), "pool:"), "#")
	f.Details = poolDetails{Resource: e.Resource, Slots: e.Slots}
	if e.Slots > 0 {
		f.Message = fmt.Sprintf("%s: the pool has the slots 1 to %d", term.Clean(string(e.Resource)), e.Slots)
		f.Hint = fmt.Sprintf("`git worklease claim %s` takes any free one", Quote("pool:"+pool))
		return
	}
	f.Message = fmt.Sprintf("the policy defines no pool %s", pool)
	f.Hint = fmt.Sprintf("define it in .worklease.toml: below the line [pools], write %s = 2 for two slots", pool)
}
