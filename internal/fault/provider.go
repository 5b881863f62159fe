package fault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/queue"
)

// providerRows are what trackers answer.
var providerRows = []Row{
	{Reason: "queue-empty", Exit: Nothing, Means: "no item of the trackers is ready", errs: []error{queue.ErrEmpty}, tell: tellEmpty},
	{Reason: "which-item", Exit: Usage, Means: "a key that is an item of several trackers", Hint: "write the whole key, as the message has it", errs: []error{providers.ErrAmbiguous}},
	{Reason: "no-provider", Exit: Usage, Means: "a key without a scheme, and no tracker is set up that could know it", Hint: "`git worklease queue init` sets one up; or write a key with a scheme, such as task:login",
		errs: []error{providers.ErrNoProvider}},
	{Reason: "not-a-key", Exit: Usage, Means: "a text that no item of the trackers can be called", Hint: "write what the tracker calls the item, such as 42 or ENG-123, or a key with a scheme, such as task:login",
		errs: []error{providers.ErrNotKey}},
	{Reason: "no-such-item", Exit: Nothing, Means: "the tracker has no such item, or none that this user may see", Hint: "`git worklease queue list` shows what there is", errs: []error{providers.ErrNotFound}},
	{Reason: "item-taken", Exit: Refused, Means: "the tracker has given the item to another", Hint: "take other work", errs: []error{providers.ErrTaken}},
	{Reason: "tracker-unauthorised", Exit: Forbidden, Means: "the tracker wants a token, or one that may do more", Hint: "set the token that the message names", errs: []error{providers.ErrUnauthorised}},
	{Reason: "tracker-unsupported", Exit: Forbidden, Means: "the tracker, or the version of it, can't do that", errs: []error{providers.ErrUnsupported}},
	{Reason: "rate-limited", Exit: Unknown, Means: "the tracker wants fewer requests", Hint: "wait until the time that the message names", errs: []error{providers.ErrRateLimited}},
	{Reason: "tracker-broken", Exit: Unknown, Means: "what the tracker says, or has on disk, can't be understood", Hint: "look at the place that the message names", errs: []error{providers.ErrBroken}},
	{Reason: "tracker-unavailable", Exit: Unknown, Means: "the tracker does not answer", Hint: "repeat it later; claims are renewed and released without it", errs: []error{providers.ErrUnavailable}},
}

// emptyDetails are what a program needs to know of an empty queue.
type emptyDetails struct {
	Open       int                `json:"open"`
	Why        map[queue.Kind]int `json:"why"`
	Incomplete bool               `json:"incomplete"`
}

// tellEmpty says what keeps the items that there are.
func tellEmpty(f *Fault, err error, _ Scene) {
	var e *queue.EmptyError
	if !errors.As(err, &e) {
		return
	}
	f.Message = "no item is ready"
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(e.Why)) {
		if n := e.Why[kind]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(counts) > 0 {
		f.Message += fmt.Sprintf(": of %d open, %s", e.Open, strings.Join(counts, ", "))
	}
	if f.Hint = "`git worklease queue list` says why for each"; e.Open == 0 {
		f.Message += ": the view has no open items"
		f.Hint = "`git worklease queue list` shows those of all views"
	}
	f.Details = emptyDetails{e.Open, e.Why, len(e.Troubles) > 0}
	if len(e.Troubles) > 0 {
		f.Lines = append(f.Lines, "not everything could be read: "+e.Troubles[0].Error())
		f.Hint = "repeat it once everything can be read; `git worklease queue list` shows the rest"
	}
}
