package guard

import (
	"fmt"
	"testing"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// BenchmarkLargeCommit: 10,000 changed paths, 200 rules, a listing of 1,000 path claims that is fresh.
func BenchmarkLargeCommit(b *testing.B) {
	rules := ""
	for i := range 200 {
		rules += fmt.Sprintf("[[rule]]\npaths = [\"services/s%d/**\", \"*.x%d\", \"!gen/**\"]\nclaim = \"%s\"\n", i, i, []string{"any", "path"}[i%2])
	}
	g := newGuard(b, nil, rules)
	var paths []string
	for i := range 10_000 {
		paths = append(paths, fmt.Sprintf("services/s%d/internal/part%d/file_%d.go", i%150, i%70, i))
	}
	seen := session.Glance{Read: g.now()}
	for i := range 1000 {
		seen.Paths = append(seen.Paths, session.PathClaim{Resource: lease.Resource(fmt.Sprintf("path:other/o%d", i)), Takeable: g.now().Wall.Add(ListingLife)})
	}
	if err := g.State.SaveGlance(seen); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		needs, err := g.Law.Needs(hooks.Change{Branch: "main", Paths: paths}, "refs/heads/main")
		if err != nil {
			b.Fatal(err)
		}
		hold := lease.Hold{Members: []lease.Member{{Resource: "path:services"}}}
		if open := hooks.Open(needs, resources([]lease.Hold{hold})); len(open) != 0 {
			b.Fatal(open)
		}
		listed, err := g.listing(b.Context(), paths, held{})
		if err != nil || len(g.against("", paths, listed, held{})) != 0 {
			b.Fatal(err)
		}
	}
}
