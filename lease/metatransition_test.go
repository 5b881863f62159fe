package lease

import (
	"errors"
	"testing"
	"time"
)

// TestMetaTransition: the authority stays, its floor only rises, and nobody makes a raise look older than it is.
func TestMetaTransition(t *testing.T) {
	t.Parallel()
	at := epoch.Add(long)
	raise := Raise{Floor: 5, At: epoch, Dated: true}
	for name, c := range map[string]struct {
		change func(old, next *Meta, rules *MetaRules)
		want   Breach
	}{
		"raise":               {func(_, _ *Meta, _ *MetaRules) {}, ""},
		"another authority":   {func(_, next *Meta, _ *MetaRules) { next.Authority = "b2" }, BreachAuthority},
		"upon another record": {func(_, next *Meta, _ *MetaRules) { next.Prev = "abc" }, BreachChain},
		"a lower floor":       {func(_, next *Meta, _ *MetaRules) { next.Floor, next.Raises = 4, nil }, BreachBackwards},
		"an absurd floor":     {func(_, next *Meta, _ *MetaRules) { next.Floor = maxFloor }, BreachBackwards},
		"a leap above what stands": {func(_, next *Meta, r *MetaRules) {
			r.Highest = maxFloor
			next.Floor, next.Raises = maxFloor+floorLeap, nil
		}, ""},
		"a raise made older":       {func(_, next *Meta, _ *MetaRules) { next.Raises[1].At = at.Add(-floorAge) }, BreachStamp},
		"a raise made undated":     {func(_, next *Meta, _ *MetaRules) { next.Raises[0].Dated = false }, BreachStamp},
		"an old raise made higher": {func(_, next *Meta, _ *MetaRules) { next.Raises[0].Floor = 9 }, BreachStamp},
		"a raise of another floor": {func(_, next *Meta, _ *MetaRules) { next.Raises[1].Floor = 8 }, BreachChanged},
		"the last raise made again": {func(old, _ *Meta, _ *MetaRules) {
			old.Raises = append(old.Raises, Raise{Floor: 9, At: at.Add(-day)})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := &Meta{Authority: "a1", Floor: 5, Raises: []Raise{raise}}
			next := old.raised(Raise{Floor: 9, At: at, Dated: true}, "01d")
			rules := MetaRules{Tip: "01d", Authority: "a1", Highest: 9}
			c.change(old, next, &rules)
			err := MetaTransition(old, next, at, rules)
			var got *BreachError
			if errors.As(err, &got); c.want == "" && err != nil || c.want != "" && (got == nil || got.Breach != c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if err := MetaTransition(&Meta{Authority: "a1"}, nil, at, MetaRules{}); !errors.Is(err, ErrBreach) {
		t.Errorf("a deletion: %v", err)
	}
	if err := MetaTransition(nil, &Meta{Authority: "b2"}, at, MetaRules{Authority: "a1"}); !errors.Is(err, ErrBreach) {
		t.Errorf("another authority's claims: %v", err)
	}
}

// TestFirstClaimAgainstARaise: a claimant need not have heard of a raise that is younger than what it may rely on, and of every other it must.
func TestFirstClaimAgainstARaise(t *testing.T) {
	t.Parallel()
	m := &Meta{Floor: 9, Raises: []Raise{{Floor: 5, At: epoch, Dated: true}, {Floor: 9, At: epoch.Add(10 * day), Dated: true}}}
	for after, floor := range map[time.Duration]Generation{time.Hour: 5, floorLife: 5, floorLife + raiseTolerance + time.Second: 9} {
		if got := m.Rules(epoch.Add(10*day + after)).Floor; got != floor {
			t.Errorf("%s after the raise: floor %d, want %d", after, got, floor)
		}
	}
	if got := (&Meta{Floor: 9}).Rules(epoch).Floor; got != 9 {
		t.Errorf("a floor that nobody raised: %d", got)
	}
}
