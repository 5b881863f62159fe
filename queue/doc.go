// Package queue joins the items of trackers with the claims on them, says of each whether it can be worked on now and why not, and hands out the next one.
//
// A board is as old as the two readings that it was made of, and says nothing of what has happened since: only a claim excludes anybody. So the next item
// is claimed by one compare-and-swap, like anything else, and a board that is out of date costs a refused try. Times are compared only within one
// tracker or one lease, never between clocks.
package queue
