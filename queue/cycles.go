package queue

import "github.com/git-worklease/git-worklease/providers"

// cycles numbers the cycles of open items that wait, over others or at once, for themselves, from 1. What merely waits for one of them is in none.
func cycles(items []providers.Item) map[providers.Key]int {
	w := &walk{index: make(map[providers.Key]int, len(items)), cyclic: map[providers.Key]int{}}
	for i := range items {
		w.index[items[i].Key] = i
	}
	w.items, w.number, w.low, w.on = items, make([]int, len(items)), make([]int, len(items)), make([]bool, len(items))
	for i := range items {
		if w.number[i] == 0 {
			w.from(i)
		}
	}
	return w.cyclic
}

// walk finds the strongly connected components of the graph of needs, by Tarjan's algorithm. It keeps a stack of its own, since a chain of needs may be as
// long as a tracker has items.
type walk struct {
	items       []providers.Item
	index       map[providers.Key]int
	number, low []int // from 1; 0: not visited
	on          []bool
	path        []int
	count       int
	cyclic      map[providers.Key]int
}

// step is an item, and which of its needs comes next.
type step struct{ item, need int }

func (w *walk) from(root int) {
	stack := []step{w.enter(root)}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if to, ok := w.next(top); ok {
			switch {
			case w.number[to] == 0:
				stack = append(stack, w.enter(to))
			case w.on[to]:
				w.low[top.item] = min(w.low[top.item], w.number[to])
			}
			continue
		}
		w.leave(top.item)
		stack = stack[:len(stack)-1]
		if len(stack) > 0 {
			under := stack[len(stack)-1].item
			w.low[under] = min(w.low[under], w.low[top.item])
		}
	}
}

func (w *walk) enter(i int) step {
	w.count++
	w.number[i], w.low[i], w.on[i] = w.count, w.count, true
	w.path = append(w.path, i)
	return step{item: i}
}

// next is the next open item that the step's item waits for.
func (w *walk) next(s *step) (to int, ok bool) {
	for needs := w.items[s.item].Needs; s.need < len(needs); {
		i, known := w.index[needs[s.need].Key]
		s.need++
		if !known || w.items[i].State.Closed() {
			continue
		}
		if i == s.item {
			w.cyclic[w.items[i].Key] = w.number[i]
		}
		return i, true
	}
	return 0, false
}

// leave ends a component where i is its first item.
func (w *walk) leave(i int) {
	if w.low[i] != w.number[i] {
		return
	}
	for n := len(w.path) - 1; ; n-- {
		member := w.path[n]
		w.on[member] = false
		if member == i {
			if len(w.path) > n+1 {
				for _, m := range w.path[n:] {
					w.cyclic[w.items[m].Key] = w.number[i]
				}
			}
			w.path = w.path[:n]
			return
		}
	}
}
