package lease

// adds says whether the request has anything to say beyond that the claim is released.
func (r *ReleaseRequest) adds() bool {
	return r.Reason != "" || r.Outcome != "" || r.For != "" || r.Note != "" || len(r.Meta) > 0
}

// lastReleased is the claim that the session has released last; none where there is none.
func (a *Authority) lastReleased() ([]group, error) {
	holds, err := a.local.Holds()
	if err != nil {
		return nil, err
	}
	var last *Hold
	for i := range holds {
		if h := &holds[i]; h.End != nil && h.End.How == EndReleased && (last == nil || !h.End.At.Before(last.End.At)) {
			last = h
		}
	}
	if last == nil {
		return nil, nil
	}
	r := last.Members[0].Resource
	return []group{{hold: *last, asked: last.resources(), err: ended(last, r), released: true}}, nil
}

// restamp adds what the request says to releases of this session that still stand at their refs, by further tombstones of the same claim.
func (a *Authority) restamp(ctx Context, res *ReleaseResult, req ReleaseRequest) error {
	if !req.adds() {
		return nil
	}
	var t tries
	for {
		err := a.restampOnce(ctx, res, &req)
		if err == nil {
			return nil
		}
		if err := a.again(ctx, &t, VerbRelease, res.Hold.resources(), err); err != nil {
			return err
		}
	}
}

func (a *Authority) restampOnce(ctx Context, res *ReleaseResult, req *ReleaseRequest) error {
	res.Added, res.Passed = nil, nil
	_, s, err := a.look(ctx, &res.Hold)
	if err != nil {
		return err
	}
	var standing []*tip
	for _, member := range res.Hold.resources() {
		t := s.tips[member]
		switch {
		case t.err != nil:
			return t.err
		case t.rec != nil && t.rec.Claim == res.Hold.Claim && t.rec.Released():
			standing, res.Added = append(standing, t), append(res.Added, member)
		default:
			res.Passed = append(res.Passed, member)
		}
	}
	if len(standing) == 0 {
		return nil
	}
	return a.buryAs(ctx, res.Hold, standing, res.tombstones(req, a.moment().stamp(), a.o.Holder))
}
