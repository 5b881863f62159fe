package session_test

import (
	"fmt"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// crowd is a state with 5,000 sightings and ten claims.
func crowd(b *testing.B) (owner string, resources []lease.Resource) {
	b.Helper()
	owner = clone(b)
	s := openState(b, owner, "a")
	all := make([]lease.Sighting, 5000)
	for i := range all {
		all[i] = sighting(lease.Resource(fmt.Sprintf("github:acme/app#%d", i)), 3, uint64(i)) //nolint:gosec // small
		resources = append(resources, all[i].Resource)
	}
	must(b, s.SeeMeta(lease.MetaSighting{Authority: authority}))
	must(b, s.See(all...))
	for i := range 10 {
		must(b, s.SaveHold(hold("a", lease.Resource(fmt.Sprintf("task:%d", i)))))
	}
	return owner, resources
}

// BenchmarkOpenForClaim is what a claim reads.
func BenchmarkOpenForClaim(b *testing.B) {
	owner, resources := crowd(b)
	for b.Loop() {
		s, err := session.Open(options(owner, "a"))
		must(b, err)
		_, err = s.Holds()
		must(b, err)
		_, _, err = s.Pending(resources[7])
		must(b, err)
		_, err = s.Seen(resources[7])
		must(b, err)
		_, err = s.Meta()
		must(b, err)
	}
}

// BenchmarkClaimWrites is what a claim writes.
func BenchmarkClaimWrites(b *testing.B) {
	owner, resources := crowd(b)
	s := openState(b, owner, "a")
	i := intent("a", resources[7])
	for n := uint64(0); b.Loop(); n++ {
		must(b, s.Begin(i))
		must(b, s.SaveHold(i.Hold))
		must(b, s.End(i))
		must(b, s.See(sighting(resources[7], 9, n)))
	}
}

func BenchmarkSeeOne(b *testing.B) {
	owner, resources := crowd(b)
	s := openState(b, owner, "a")
	for n := uint64(0); b.Loop(); n++ {
		must(b, s.See(sighting(resources[7], 9, n)))
	}
}

func BenchmarkSeenAll(b *testing.B) {
	owner, resources := crowd(b)
	s := openState(b, owner, "a")
	for b.Loop() {
		_, err := s.Seen(resources...)
		must(b, err)
	}
}

func BenchmarkSeeAllAgain(b *testing.B) {
	owner, resources := crowd(b)
	s := openState(b, owner, "a")
	for n := uint64(0); b.Loop(); n++ {
		all := make([]lease.Sighting, len(resources))
		for i, r := range resources {
			all[i] = sighting(r, lease.Generation(n+4), 1)
		}
		must(b, s.See(all...))
	}
}
