package lease

// Survey is all that stands at an authority, judged by all that a clone has seen of it.
type Survey struct {
	// Authority is its ID; "" where there is none yet.
	Authority string
	Floor     Generation
	// Views are all resources that have a ref, sorted.
	Views []View
	// Gone are sightings of refs that are absent by now, which neither a release nor the floor explains.
	Gone []Sighting
}

// Survey reads what [Authority.List] reads and compares all of it with seen, which [Authority.List] does for this session's resources alone.
// It writes no ref.
func (a *Authority) Survey(ctx Context, seen []Sighting) (*Survey, error) {
	holds, err := a.local.Holds()
	if err != nil {
		return nil, err
	}
	before := make(map[Resource]Sighting, len(seen))
	for _, s := range seen {
		before[s.Resource] = s
	}
	meta, views, err := a.list(ctx, holds, before)
	if err != nil {
		return nil, err
	}
	there := make(map[Resource]bool, len(views))
	for _, v := range views {
		there[v.Resource] = true
	}
	s := &Survey{Authority: meta.Authority, Floor: meta.Floor, Views: views}
	for _, was := range seen {
		if !there[was.Resource] && was.Generation > meta.Floor && !was.Free {
			s.Gone = append(s.Gone, was)
		}
	}
	return s, nil
}
