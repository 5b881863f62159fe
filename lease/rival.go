package lease

import "errors"

// bar looks for what keeps a path from being claimed that could be if it were alone: a claim of a path that overlaps with it. What can't be judged
// there makes this path unknown as well.
func (a *Authority) bar(v *View, s *snapshot, resources []Resource, m moment) error {
	if !v.Takeable || v.Mine || !v.Resource.IsPath() {
		return nil
	}
	_, refusal, err := a.inTheWay(s.around(v.Resource, resources), []Resource{v.Resource}, m)
	if err != nil || refusal == nil {
		return err
	}
	v.Takeable = false
	var held *HeldError
	if !errors.As(refusal, &held) {
		v.State, v.Problem = problemState(refusal), refusal
		return nil
	}
	v.Rival, v.TakeableAt = held, later(v.TakeableAt, held.TakeableAt)
	if v.State != StandingHeld {
		v.State, v.Deadline, v.Left = StandingOverlapped, held.Until, held.Until.Sub(m.wall)
	}
	return nil
}

// around is what overlaps with the path r in s, the other resources that were asked for included.
func (s *snapshot) around(r Resource, resources []Resource) *snapshot {
	near := &snapshot{}
	for _, t := range s.others {
		if overlaps(t, []Resource{r}) {
			near.others = append(near.others, t)
		}
	}
	for _, o := range resources {
		if o != r && Overlap(o, r) {
			near.others = append(near.others, s.tips[o])
		}
	}
	return near
}

// readFor is read, or readPaths where one of the resources is a path.
func (a *Authority) readFor(ctx Context, resources []Resource) (*snapshot, error) {
	if anyPath(resources) {
		return a.readPaths(ctx, resources)
	}
	return a.read(ctx, resources)
}
