package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, test := range []struct {
		sorted []time.Duration
		p      int
		want   time.Duration
	}{
		{nil, 50, 0}, {[]time.Duration{7}, 50, 7}, {[]time.Duration{7}, 99, 7}, {[]time.Duration{1, 2}, 50, 1}, {[]time.Duration{1, 2, 3}, 50, 2},
		{hundred, 0, 1}, {hundred, 50, 50}, {hundred, 99, 99}, {hundred, 100, 100}, {hundred[:10], 99, 10},
	} {
		if got := percentile(test.sorted, test.p); got != test.want {
			t.Errorf("%d%% of %v: %d, want %d", test.p, test.sorted, got, test.want)
		}
	}
}

func TestEvenness(t *testing.T) {
	for _, test := range []struct {
		got  []int
		want float64
	}{{nil, 1}, {[]int{0, 0}, 1}, {[]int{5, 5, 5}, 1}, {[]int{8, 0, 0, 0}, 0.25}, {[]int{1, 3}, 0.8}} {
		if got := evenness(test.got); got != test.want {
			t.Errorf("%v: %v, want %v", test.got, got, test.want)
		}
	}
}

func TestJudge(t *testing.T) {
	trouble := func(t refstore.Trouble) error { return &refstore.UnavailableError{Trouble: t, Err: errors.New("x")} }
	for _, test := range []struct {
		err  error
		want outcome
	}{
		{nil, done},
		{&lease.HeldError{Resource: task, Record: &lease.Record{}}, refused},
		{&lease.LostError{Resource: task}, lost},
		{lease.ErrExpired, lost},
		{lease.ErrNotHeld, lost},
		{&lease.PendingError{Err: trouble(refstore.TroubleAuth)}, unknown},
		{&refstore.UndecidedError{Err: trouble(refstore.TroubleNetwork)}, unknown},
		{trouble(refstore.TroubleBusy), failed},
		{refstore.ErrConflict, failed},
		{trouble(refstore.TroubleAuth), broken},
		{&refstore.RefusedError{}, broken},
		{lease.ErrRolledBack, broken},
		{lease.ErrMixedBundle, broken},
		{&lease.PendingError{Err: &refstore.UndecidedError{Err: errDied}}, died},
	} {
		if got := judge(fmt.Errorf("x: %w", test.err)); test.err != nil && got != test.want || judge(test.err) != test.want {
			t.Errorf("%v: %d, want %d", test.err, got, test.want)
		}
	}
}

// TestGate: there is more room as long as calls are quick, and less where they are slow or fail, but never none.
func TestGate(t *testing.T) {
	g := newGate(64)
	full := func() int {
		n := 0
		for g.enter() {
			n++
		}
		return n
	}
	leave := func(n int, took time.Duration, failed bool) {
		for range n {
			g.leave(took, failed)
		}
	}
	before := full()
	leave(before, time.Millisecond, false)
	leave(full(), time.Millisecond, false)
	more := full()
	if before != firstPlaces || more <= before {
		t.Errorf("%d places, %d after quick calls", before, more)
	}
	leave(more, 2*slowCall, false)
	less := full()
	if less >= more {
		t.Errorf("%d places after slow calls, %d before", less, more)
	}
	leave(less, time.Millisecond, true)
	if n := full(); n != fewestPlaces {
		t.Errorf("%d places after failures", n)
	}
	if one := newGate(1); !one.enter() || one.enter() {
		t.Error("one worker does not have one place")
	}
	if d := g.pause(rand.New(rand.NewPCG(1, 2))); d <= 0 || d > 2*queue {
		t.Errorf("a pause of %s", d)
	}
}

// TestScriptsAreRepeatable: the same seed draws the same, for each worker and each of its lives, and another one something else.
func TestScriptsAreRepeatable(t *testing.T) {
	f := newField(100, true)
	script := func(seed uint64) string {
		s := &Sim{o: Options{Seed: seed}}
		text := ""
		for worker := range 3 {
			for life := range 3 {
				text += fmt.Sprintln(f.pick(s.random(worker, life)))
			}
		}
		return text
	}
	first, again, other := script(1), script(1), script(2)
	if first != again || first == other {
		t.Errorf("one seed draws\n%sand then\n%sand another\n%s", first, again, other)
	}
}

func TestOptions(t *testing.T) {
	good := Options{Workers: 1, Resources: 1, Span: time.Second, Prefix: lease.DefaultPrefix, Dir: t.TempDir(), Clock: &lease.SystemClock{},
		Attempt: context.WithCancel}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Options){
		"no workers":       func(o *Options) { o.Workers = 0 },
		"too many workers": func(o *Options) { o.Workers = MostWorkers + 1 },
		"no resources":     func(o *Options) { o.Resources = -1 },
		"too many":         func(o *Options) { o.Resources = MostResources + 1 },
		"no time":          func(o *Options) { o.Span = 0 },
		"too long":         func(o *Options) { o.Span = LongestSpan + 1 },
		"grace":            func(o *Options) { o.Grace = lease.MaxGrace + 1 },
		"no clock":         func(o *Options) { o.Clock = nil },
	} {
		o := good
		change(&o)
		if _, err := New(o); !errors.Is(err, ErrBadOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
