package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/internal/sim"
	"github.com/git-worklease/git-worklease/internal/term"
)

// printSim shows what a simulation has come to, the most important last.
func printSim(p *printer, r *sim.Report) {
	p.printf("%s in %s, %s, %.0f s, seed %d\n", several(r.Workers, "worker"), several(r.Clones, "clone"), several(r.Resources, "resource"), r.Seconds, r.Seed)
	p.printf("clocks: %s · several refs at once: %s\n\n", map[bool]string{true: "corrected by the server's Date", false: "not corrected"}[r.Dated],
		map[bool]string{true: "yes", false: "no, so nobody claims several resources or paths"}[r.Atomic])
	printVerbs(p, r.Verbs)
	p.printf("\n")
	printShares(p, r.Kinds)
	p.printf("\n")
	t := &term.Table{}
	t.Row("claims", fmt.Sprintf("%d, %s a second; %d refused, %d taken over, %d handed on", r.Claims, number(r.ClaimsPerSecond), r.Refusals, r.TakeOvers, r.Handed))
	t.Row("renewals", fmt.Sprintf("%d by keepers, %d late ones", r.Kept, r.Late))
	t.Row("stopped", fmt.Sprintf("%d died, %d were told that it was over, %d saw in time that it was", r.Deaths, r.Lost, r.TooLate))
	t.Row("pushes", fmt.Sprintf("%d, %s a minute; %d reads, %s a second", r.Pushes, number(r.PushesPerMinute), r.Reads, number(r.ReadsPerSecond)))
	t.Row("unknown", fmt.Sprintf("%d outcomes; %d calls failed%s", r.Unknown, r.Failed, inBrackets(r.Troubles)))
	printPromises(t, r)
	p.table(t)
	for _, foul := range r.Fouls {
		p.printf("  %s\n", term.Clean(foul))
	}
}

// printVerbs shows how long calls took.
func printVerbs(p *printer, verbs []sim.Latency) {
	t := &term.Table{}
	t.Row("verb", "calls", "p50", "p99", "longest")
	for _, v := range verbs {
		if v.Count > 0 {
			t.Row(v.Verb, strconv.Itoa(v.Count), ms(v.Median), ms(v.P99), ms(v.Longest))
		}
	}
	p.table(t)
}

// printShares shows what each kind of worker got.
func printShares(p *printer, shares []sim.Share) {
	t := &term.Table{}
	t.Row("kind", "workers", "claims", "each", "refused", "evenness")
	for _, s := range shares {
		if s.Workers > 0 {
			t.Row(s.Kind, strconv.Itoa(s.Workers), strconv.Itoa(s.Claims), fmt.Sprintf("%d to %d", s.Least, s.Most), strconv.Itoa(s.Refusals), fmt.Sprintf("%.2f", s.Evenness))
		}
	}
	p.table(t)
}

// printPromises shows what must be 0.
func printPromises(t *term.Table, r *sim.Report) {
	for _, promise := range []struct {
		name, more string
		n          uint64
	}{
		{"lost updates", fmt.Sprintf(" of %d", r.Increases), r.LostUpdates}, {"double holds", "", uint64(r.DoubleHolds)},
		{"early losses", "", uint64(r.EarlyLosses)}, {"repeated generations", "", uint64(r.RepeatedGenerations)},
	} {
		t.Row(promise.name, strconv.FormatUint(promise.n, 10)+promise.more)
		t.Style(1, map[bool]term.Style{true: term.Good, false: term.Bad}[promise.n == 0])
	}
}

// inBrackets are the reasons of what failed.
func inBrackets(reasons map[string]int) string {
	var words []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		words = append(words, fmt.Sprintf("%s %d", reason, reasons[reason]))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// several puts a number and a word together.
func several(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func ms(n int64) string { return fmt.Sprintf("%d ms", n) }

// number is a number with the decimals that it needs.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
