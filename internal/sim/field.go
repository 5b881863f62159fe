package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/git-worklease/git-worklease/lease"
)

// cell is what no two may hold at once: a resource, or a file below paths that overlap. It is how the referee knows what excludes what, without asking
// those who are judged.
type cell string

// field is what the workers contend for.
type field struct {
	tasks, paths []lease.Resource
	cells        map[lease.Resource][]cell
	// bundles says that several may be claimed at once.
	bundles bool
}

const (
	// treeSize is how many resources a tree of paths is: itself, and the files below it.
	treeSize = 5
	// perTree is how many resources there are for each tree.
	perTree = 25
	// mostTasks is how many tasks a bundle has at most.
	mostTasks = 4
)

// newField makes n resources: tasks, and trees of paths, where the server can change several refs at once. Without that a path claim could not end
// the stale ones that it overlaps with.
func newField(n int, atomic bool) *field {
	f := &field{cells: map[lease.Resource][]cell{}, bundles: atomic}
	if atomic {
		for i := range n / perTree {
			f.plant(i)
		}
	}
	for i := range n - len(f.paths) {
		r := lease.Resource(fmt.Sprintf("task:sim-%d", i+1))
		f.tasks = append(f.tasks, r)
		f.cells[r] = []cell{cell(r)}
	}
	return f
}

// plant makes a tree. Every other one is named by what is below it.
func (f *field) plant(i int) {
	root := fmt.Sprintf("path:sim/tree-%d", i+1)
	tree := lease.Resource(root)
	if i%2 == 1 {
		tree = lease.Resource(root + "/leaf-*")
	}
	f.paths = append(f.paths, tree)
	for k := range treeSize - 1 {
		leaf := lease.Resource(fmt.Sprintf("%s/leaf-%d", root, k+1))
		f.paths = append(f.paths, leaf)
		f.cells[leaf] = []cell{cell(leaf)}
		f.cells[tree] = append(f.cells[tree], cell(leaf))
	}
}

func (f *field) cellsOf(r lease.Resource) []cell { return f.cells[r] }

// pick draws what a worker wants: mostly one task, sometimes a bundle of them, a path, or both.
func (f *field) pick(random *rand.Rand) []lease.Resource {
	want := []lease.Resource{draw(random, f.tasks)}
	switch random.IntN(10) {
	case 0, 1, 2:
		for range random.IntN(mostTasks) {
			want = append(want, draw(random, f.tasks))
		}
	case 3:
		if len(f.paths) > 0 {
			want = append(want, draw(random, f.paths))
		}
	case 4, 5:
		if len(f.paths) > 0 {
			want[0] = draw(random, f.paths)
		}
	}
	if !f.bundles {
		want = want[:1]
	}
	slices.Sort(want)
	return slices.Compact(want)
}

// draw draws one of several, the first ones more often.
func draw(random *rand.Rand, rs []lease.Resource) lease.Resource {
	return rs[min(random.IntN(len(rs)), random.IntN(len(rs)))]
}
