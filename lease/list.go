package lease

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/git-worklease/git-worklease/refstore"
)

// List is every resource that has a ref, sorted.
func (a *Authority) List(ctx Context) ([]View, error) {
	if err := a.attest(ctx); err != nil {
		return nil, err
	}
	holds, err := a.local.Holds()
	if err != nil {
		return nil, err
	}
	before := map[Resource]Sighting{}
	if own := a.own(holds, nil); len(own) > 0 {
		if before, err = a.local.Seen(own...); err != nil {
			return nil, err
		}
	}
	_, views, err := a.list(ctx, holds, before)
	return views, err
}

// list reads all claims' refs and the authority's, and judges them by what was seen before.
func (a *Authority) list(ctx Context, holds []Hold, before map[Resource]Sighting) (MetaSighting, []View, error) {
	meta, listed, err := a.listWithMeta(ctx, a.refs.claims())
	if err != nil {
		return MetaSighting{}, nil, err
	}
	listed = slices.DeleteFunc(listed, func(ref refstore.Ref) bool { return ref.Name == a.refs.meta() })
	views, err := a.viewAll(listed, meta.Authority, before, holds)
	slices.SortFunc(views, func(x, y View) int { return strings.Compare(string(x.Resource), string(y.Resource)) })
	return meta, views, err
}

// viewAll judges a listing. What was seen is looked up and remembered only of the resources where something depends on it.
func (a *Authority) viewAll(listed []refstore.Ref, authority string, before map[Resource]Sighting, holds []Hold) ([]View, error) {
	m := a.moment()
	tips := a.tipsIn(listed, authority, before, m)
	s := &snapshot{before: before, tips: map[Resource]*tip{}}
	var watched []Resource
	for _, t := range tips {
		_, own := before[t.resource]
		if watch := t.err == nil && a.watches(t.rec, m); own || watch {
			s.tips[t.resource] = t
			if !own {
				watched = append(watched, t.resource)
			}
		}
	}
	if err := a.observe(s, watched); err != nil {
		return nil, err
	}
	views := make([]View, len(tips))
	for i, t := range tips {
		views[i] = a.view(t, holds, m)
		views[i].Ref = listed[i].Name
	}
	return views, nil
}

// tipsIn reads the records of a listing of claims, on all processors.
func (a *Authority) tipsIn(listed []refstore.Ref, authority string, before map[Resource]Sighting, m moment) []*tip {
	tips := make([]*tip, len(listed))
	workers := min(runtime.GOMAXPROCS(0), len(listed)/64+1)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(listed); i += workers {
				tips[i] = a.tipOf(listed[i], authority, before, m)
			}
		})
	}
	group.Wait()
	return tips
}

// tipOf judges the tip of a ref whose resource is known only by what is there.
func (a *Authority) tipOf(ref refstore.Ref, authority string, before map[Resource]Sighting, m moment) *tip {
	t := &tip{resource: a.refs.resource(ref)}
	if t.resource == "" {
		if rec, err := a.decode(ref, authority); err == nil {
			t.resource = rec.Resource
		}
	}
	t.seen = before[t.resource]
	a.judgeTip(t, ref, authority, m)
	return t
}

// watches says whether the age of a record is judged by what this clone has seen of it.
func (a *Authority) watches(r *Record, m moment) bool {
	if r.Released() {
		return r.Release.ReservedFor != "" && r.Release.At.After(m.now())
	}
	return r.Expiry != ExpiryClock || a.o.Terms.Expiry != ExpiryClock || r.RenewedAt.After(m.now())
}

// observe counts for the watched resources from when they were first seen, and remembers what is new of s.
func (a *Authority) observe(s *snapshot, watched []Resource) error {
	if len(watched) > 0 {
		seen, err := a.local.Seen(watched...)
		if err != nil {
			return err
		}
		for _, r := range watched {
			if t := s.tips[r]; seen[r].Tip == t.oid { // of another record it says nothing
				t.seen = seen[r].Merge(t.seen)
			}
			s.before[r] = seen[r]
		}
	}
	a.see(s)
	return nil
}
