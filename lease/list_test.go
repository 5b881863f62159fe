package lease

import (
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

// listing is n claims as a store would list them.
func listing(b *testing.B, n int) []refstore.Ref {
	b.Helper()
	listed := make([]refstore.Ref, n)
	for i := range listed {
		r := sample()
		r.Resource = resourceN(i)
		r.Members = []Resource{r.Resource}
		c := commit(b, r, 1)
		c.OID = refstore.SHA1.Hash("commit", c.Message)
		listed[i] = refstore.Ref{Name: refs{DefaultPrefix}.claim(r.Resource), Commit: c}
	}
	return listed
}

func BenchmarkViews(b *testing.B) {
	a := newWorld(b).actor("alice")
	listed := listing(b, 5000)
	b.ReportAllocs()
	for b.Loop() {
		views, err := a.viewAll(listed, "a1", map[Resource]Sighting{}, nil)
		if err != nil || len(views) != 5000 || views[7].State != StandingHeld {
			b.Fatal(err)
		}
	}
}
