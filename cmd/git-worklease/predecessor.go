package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/queue"
)

// printPredecessor tells the new holder what the last one left.
func printPredecessor(p *printer, r *lease.Record) {
	p.printf("  before: ")
	printPast(p, r)
}

// printPast says who had a resource, and what was left there.
func printPast(p *printer, r *lease.Record) {
	p.printf("%s, generation %d, %s", fault.Holder(r.Holder), r.Generation, leftHow(p, r))
	if r.Purpose != "" {
		p.printf(": %s", term.Clean(r.Purpose))
	}
	p.printf("\n")
	if rel := r.Release; rel != nil && rel.Reason != "" {
		p.printf("  reason: %s\n", term.Clean(rel.Reason))
	}
	if rel := r.Release; rel != nil && rel.Note != "" {
		p.printf("  note: %s\n", term.Clean(rel.Note))
	}
	if len(r.Checkpoint) > 0 {
		p.printf("  checkpoint: %s\n", term.Clean(string(r.Checkpoint)))
	}
	if text := metaText(r.Meta); text != "" {
		p.printf("  meta: %s\n", text)
	}
}

// leftHow says how the last holder came to an end.
func leftHow(p *printer, r *lease.Record) string {
	rel := r.Release
	switch {
	case !r.Released() || rel == nil:
		return "last heard of " + p.ago(r.RenewedAt)
	case rel.Forced && rel.By != nil:
		return fmt.Sprintf("released by force by %s %s", fault.Holder(*rel.By), p.ago(rel.At))
	case rel.ReservedFor != "":
		return fmt.Sprintf("released for %s %s", term.Clean(rel.ReservedFor), p.ago(rel.At))
	default:
		return fmt.Sprintf("released %s, %s", p.ago(rel.At), term.Clean(string(rel.Outcome)))
	}
}

// metaText is what a claim's meta says to people, on one line: the queue's notes are for programs.
func metaText(meta map[string]string) string {
	pairs := make([]string, 0, len(meta))
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		if queue.IsNote(name) {
			continue
		}
		pairs = append(pairs, term.Clean(name+"="+meta[name]))
	}
	return strings.Join(pairs, ", ")
}
