package sim

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// court is a referee with a clock that is put forward by hand, and the field that it judges.
type court struct {
	*referee
	clock time.Time
	field *field
}

func newCourt() *court {
	c := &court{clock: time.Unix(1_700_000_000, 0), field: newField(2*perTree, true)}
	c.referee = newReferee(func() time.Time { return c.clock }, c.field.cellsOf)
	return c
}

// told is that a worker is told that it holds resources, for so many more seconds, with a generation. Its name is its claim's.
func (c *court) told(who string, seconds int, generation lease.Generation, resources ...lease.Resource) {
	h := &lease.Hold{Claim: lease.ClaimID(who)}
	for _, r := range resources {
		h.Members = append(h.Members, lease.Member{Resource: r, Generation: generation})
	}
	c.holds(who, h, c.clock, time.Duration(seconds)*time.Second)
}

func (c *court) pass(seconds int) { c.clock = c.clock.Add(time.Duration(seconds) * time.Second) }

// work is that a worker writes what it has read, increased.
func (c *court) work(who string, read reading) bool {
	_, ok := c.write(lease.ClaimID(who), read)
	return ok
}

const (
	task  lease.Resource = "task:sim-1"
	other lease.Resource = "task:sim-2"
	tree  lease.Resource = "path:sim/tree-1"
	leaf  lease.Resource = "path:sim/tree-1/leaf-2"
	leaf3 lease.Resource = "path:sim/tree-1/leaf-3"
)

// game is what workers are told and do, and what a referee has to see in it.
type game struct {
	play                           func(c *court)
	doubles, early, repeated, lost int
}

var games = map[string]game{
	"one after the other": {play: func(c *court) {
		c.told("a", 10, 1, task)
		c.leaves("a")
		c.told("b", 10, 2, task)
	}},
	"after the time is up": {play: func(c *court) {
		c.told("a", 10, 1, task)
		c.pass(10)
		c.told("b", 10, 2, task)
		c.loses("a", lease.ErrLost)
	}},
	"different resources": {play: func(c *court) {
		c.told("a", 10, 1, task)
		c.told("b", 10, 1, other)
	}},
	"two at once": {play: func(c *court) {
		c.told("a", 10, 1, task)
		c.pass(9)
		c.told("b", 10, 2, task)
		c.told("b", 10, 2, task)
	}, doubles: 1},
	"a renewal that comes too late": {play: func(c *court) {
		c.told("a", 10, 1, task)
		c.pass(11)
		c.told("b", 10, 2, task)
		c.told("a", 10, 1, task)
	}, doubles: 1, repeated: 1},
	"a late renewal of what nobody took": {play: func(c *court) {
		c.told("a", 10, 1, task)
		read := c.read("a")
		c.pass(60)
		c.told("a", 10, 1, task)
		c.work("a", read)
	}},
	"told when it is over already": {play: func(c *court) {
		c.told("b", 10, 2, task)
		c.told("a", 0, 1, task)
	}},
	"a part of a bundle": {play: func(c *court) {
		c.told("a", 10, 1, task, other)
		c.told("b", 10, 2, other)
	}, doubles: 1},
	"a bundle on a bundle": {play: func(c *court) {
		c.told("a", 10, 1, task, other)
		c.told("b", 10, 2, task, other)
	}, doubles: 1},
	"a path below another": {play: func(c *court) {
		c.told("a", 10, 1, leaf)
		c.told("b", 10, 1, tree)
	}, doubles: 1},
	"paths beside each other": {play: func(c *court) {
		c.told("a", 10, 1, leaf)
		c.told("b", 10, 1, leaf3)
		c.told("c", 10, 1, task)
	}},
	"lost before its time": {play: func(c *court) {
		c.told("a", 10, 1, task)
		c.pass(9)
		c.loses("a", lease.ErrLost)
		c.told("b", 10, 2, task)
	}, early: 1},
	"lost twice, and given up before": {play: func(c *court) {
		c.told("a", 10, 1, task)
		c.leaves("a")
		c.loses("a", lease.ErrLost)
	}},
	"a generation that comes twice": {play: func(c *court) {
		c.told("a", 10, 1, task)
		c.leaves("a")
		c.told("b", 10, 1, task)
	}, repeated: 1},
	"a generation below an earlier one": {play: func(c *court) {
		c.told("a", 10, 7, task)
		c.leaves("a")
		c.told("b", 10, 6, task)
	}, repeated: 1},
	"a claim that is moved keeps its generation": {play: func(c *court) {
		c.told("a", 10, 7, task)
		c.leaves("a")
		c.told("a", 10, 7, task)
	}},
	"an update is lost": {play: func(c *court) {
		c.told("a", 10, 1, task)
		read := c.read("a")
		c.told("b", 10, 2, task)
		c.work("b", c.read("b"))
		c.work("a", read)
	}, doubles: 1, lost: 1},
	"updates are lost below a path": {play: func(c *court) {
		c.told("a", 10, 1, tree)
		read := c.read("a")
		c.told("b", 10, 1, leaf)
		c.work("b", c.read("b"))
		c.work("a", read)
		c.work("b", c.read("b"))
	}, doubles: 1, lost: 1},
	"an update over a gap": {play: func(c *court) {
		c.told("a", 10, 1, task)
		read := c.read("a")
		c.pass(20)
		c.told("b", 10, 2, task)
		c.work("b", c.read("b"))
		c.pass(20)
		c.told("a", 10, 1, task)
		c.work("a", read)
	}, repeated: 1, lost: 1},
}

// TestRefereeNotices: what must not happen is noticed, each time once, and what may happen is not.
func TestRefereeNotices(t *testing.T) {
	for name, test := range games {
		t.Run(name, func(t *testing.T) {
			c := newCourt()
			test.play(c)
			_, lost, f := c.verdict()
			got, want := []int{f.doubles, f.early, f.repeated, int(lost)}, []int{test.doubles, test.early, test.repeated, test.lost}
			if !slices.Equal(got, want) {
				t.Errorf("doubles, early, repeated, lost: %v, want %v: %q", got, want, f.words)
			}
			if len(f.words) != f.doubles+f.early+f.repeated {
				t.Errorf("said %q", f.words)
			}
		})
	}
}

// TestRefereeStopsWorkers: who is late, or was told that its claim is over, does not write any more.
func TestRefereeStopsWorkers(t *testing.T) {
	c := newCourt()
	c.told("a", 10, 1, task)
	read := c.read("a")
	c.pass(10)
	if c.work("a", read) {
		t.Error("it wrote when its time was up")
	}
	c.told("a", 10, 1, task)
	if !c.work("a", read) {
		t.Error("it could not write after a late renewal")
	}
	c.loses("a", errors.New("over"))
	if c.work("a", read) || c.read("a") != nil || c.work("nobody", read) {
		t.Error("it wrote after it was told that its claim is over")
	}
	if n, lost, _ := c.verdict(); n != 1 || lost != 0 {
		t.Errorf("%d increases, %d lost", n, lost)
	}
}

// TestRefereeSaysNotTooMuch: only the first fouls are described.
func TestRefereeSaysNotTooMuch(t *testing.T) {
	c := newCourt()
	for i := range 2 * mostWords {
		c.told(fmt.Sprint(i), 10, lease.Generation(i), task)
		c.leaves(lease.ClaimID(fmt.Sprint(i)))
		c.told(fmt.Sprint("again", i), 10, lease.Generation(i), task)
	}
	if _, _, f := c.verdict(); len(f.words) != mostWords || f.repeated != 2*mostWords {
		t.Errorf("%d described of %d", len(f.words), f.repeated)
	}
}

// TestFieldOverlaps: the referee's cells say of any two resources what the rules for paths say.
func TestFieldOverlaps(t *testing.T) {
	for _, atomic := range []bool{true, false} {
		f := newField(3*perTree, atomic)
		all := slices.Concat(f.tasks, f.paths)
		if len(all) != 3*perTree || atomic != (len(f.paths) == 3*treeSize) {
			t.Errorf("%d tasks and %d paths", len(f.tasks), len(f.paths))
		}
		for _, a := range all {
			if len(f.cellsOf(a)) == 0 {
				t.Errorf("%s: no cells", a)
			}
			for _, b := range all {
				shares := slices.ContainsFunc(f.cellsOf(a), func(c cell) bool { return slices.Contains(f.cellsOf(b), c) })
				if shares != lease.Overlap(a, b) {
					t.Errorf("%s and %s: %t by their cells", a, b, shares)
				}
			}
		}
	}
}
