package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// transactions lets the server write down each transaction of its refs, once it is committed.
const transactions = `#!/bin/sh
[ "$1" = committed ] || exit 0
lines=$(cat)
printf '%s\n\n' "$lines" >> "$GIT_DIR/transactions"
`

// moved is one ref of a transaction.
type moved struct{ old, new, ref string }

// log are the transactions since the last call.
func (s *site) log(t *testing.T) [][]moved {
	t.Helper()
	path := filepath.Join(s.repo.Dir, "transactions")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var all [][]moved
	for block := range strings.SplitSeq(string(text), "\n\n") {
		var tx []moved
		for line := range strings.Lines(block) {
			if f := strings.Fields(line); len(f) == 3 {
				tx = append(tx, moved{f[0], f[1], f[2]})
			}
		}
		all = append(all, tx)
	}
	return all
}

// fencedOnly checks that each transaction which moves branches also renews the claim that stood at the ref, and counts them.
func (s *site) fencedOnly(t *testing.T, r lease.Resource, holder string) (pushes int) {
	t.Helper()
	ref := lease.DefaultPrefix + "claims/" + lease.EncodeName(string(r))
	for _, tx := range s.log(t) {
		if !slices.ContainsFunc(tx, func(m moved) bool { return strings.HasPrefix(m.ref, "refs/heads/") }) {
			continue
		}
		pushes++
		i := slices.IndexFunc(tx, func(m moved) bool { return m.ref == ref })
		if i < 0 {
			t.Fatalf("a branch moved without the claim: %v", tx)
		}
		before, after := s.recordAt(t, tx[i].old), s.recordAt(t, tx[i].new)
		switch {
		case after.Claim != before.Claim, after.Generation != before.Generation, after.Revision != before.Revision+1, before.Released(), after.Released():
			t.Fatalf("a branch moved with something else than a renewal: %s after %s", brief(after), brief(before))
		case after.Holder.Agent != holder || string(after.Prev) != tx[i].old || after.Push == "":
			t.Fatalf("a branch moved by somebody else than %s: %s", holder, brief(after))
		}
	}
	return pushes
}

// TestRaceOfFencedPushes: many processes push different branches under one claim at once. In the middle of it another takes the claim by force. No branch
// ever moves without a renewal of the claim that stands, in the same transaction of the server.
func TestRaceOfFencedPushes(t *testing.T) {
	processes, rounds := 6, 3
	if thorough() {
		processes, rounds = 30, 20
	}
	s := httpSite(t, gitserver.HTTPOptions{})
	if err := s.repo.Hook("reference-transaction", transactions); err != nil {
		t.Fatal(err)
	}
	const race = lease.Resource("task:race")
	holder, rival := s.worker(t, "alice", "WORKLEASE_SESSION=s"), s.worker(t, "bob", "WORKLEASE_SESSION=s")
	holder.must(t, 0, "claim", string(race))
	landed, lost := 0, 0
	for round := range rounds {
		if _, err := holder.Git(t.Context(), "commit", "--quiet", "--allow-empty", "-m", fmt.Sprint(round)); err != nil {
			t.Fatal(err)
		}
		s.log(t)
		var racers []*racer
		for i := range processes {
			racers = append(racers, &racer{worker: holder, args: []string{"push", "--quiet", "--force", "origin", fmt.Sprintf("HEAD:refs/heads/branch-%d", i)}})
		}
		startRace(t, racers)
		racers[0].wait()
		rival.must(t, 0, "release", "--force", string(race), "-m", "mine now")
		rival.must(t, 0, "claim", string(race))
		pushed := 0
		for _, r := range racers[1:] {
			r.wait()
		}
		for _, r := range racers {
			switch r.Code {
			case 0:
				pushed++
			case 4:
				lost++
			default:
				t.Fatalf("exit %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
			}
		}
		if got := s.fencedOnly(t, race, holder.name); got != pushed {
			t.Fatalf("round %d: %d pushes were told that they landed, and %d have", round, pushed, got)
		}
		landed += pushed
		holder, rival = rival, holder
	}
	if landed < rounds || lost == 0 {
		t.Errorf("%d pushes landed and %d were lost: that was no race", landed, lost)
	}
	t.Logf("%d pushes landed, %d were refused because the claim was lost", landed, lost)
	s.sound(t)
}
