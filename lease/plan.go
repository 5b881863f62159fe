package lease

// glance is what has to be known before the first try. Nothing need be read where the authority was read within a day and each resource
// is new to this clone or was seen released: the swap itself then shows whether that still holds.
func (c *claimer) glance(ctx Context) (*snapshot, error) {
	if anyPath(c.want) {
		return c.readPaths(ctx, c.want)
	}
	meta, err := c.known()
	if err != nil {
		return nil, err
	}
	if c.attested || !meta.fresh(c.moment()) {
		return c.read(ctx, c.want)
	}
	before, err := c.local.Seen(c.want...)
	if err != nil {
		return nil, err
	}
	s := &snapshot{meta: meta, before: before, tips: map[Resource]*tip{}}
	for _, r := range c.want {
		seen, known := before[r]
		if known && !seen.Free {
			return c.read(ctx, c.want)
		}
		s.tips[r] = &tip{resource: r, oid: seen.Tip, seen: seen}
	}
	return s, nil
}

// Why a claim has a predecessor that it did not take over.
const (
	whyReleased = "released"
	whyForced   = "forced"
)

// step is what a claim does to one ref.
type step struct {
	tip         *tip
	generation  Generation
	predecessor *Predecessor
	taken       *Record
}

// plan judges every resource, and what overlaps with paths among them; nothing is claimed unless all can be.
func (c *claimer) plan(m moment) ([]step, error) {
	steps := make([]step, 0, len(c.want))
	for _, r := range c.want {
		s, err := c.judgeOne(c.snap.tips[r], m)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	takeable, refusal, err := c.inTheWay(c.snap, c.want, m)
	if err != nil {
		return nil, err
	}
	c.ended = takeable
	return steps, refusal
}

func (c *claimer) judgeOne(t *tip, m moment) (step, error) {
	s := step{tip: t, generation: max(c.snap.meta.Floor, t.seen.Generation) + 1}
	switch {
	case t.err != nil:
		return step{}, t.err
	case t.gone:
		return step{}, c.judgeGone(t)
	case t.rec == nil:
		return s, nil
	}
	stance := c.stance(m)
	stance.supersede = c.req.Supersede
	v := judge(t.rec, t.seen, stance)
	if !v.takeable {
		return step{}, v.held(t.rec, m)
	}
	switch {
	case !t.rec.Released():
		s.predecessor, s.taken = t.rec.predecessor(string(v.liveness)), t.rec
	case t.rec.Release.Forced:
		s.predecessor, s.taken = t.rec.predecessor(whyForced), t.rec
	case t.rec.handsOn():
		s.predecessor, s.taken = t.rec.predecessor(whyReleased), t.rec
	}
	return s, nil
}

// judgeGone is about a ref that was deleted. Where the last that this clone saw there was a claim of this session, nobody else's is known
// to have vanished with it.
func (c *claimer) judgeGone(t *tip) error {
	holds, err := c.local.Holds()
	if err != nil {
		return err
	}
	for _, h := range holds {
		for _, m := range h.Members {
			if m.Resource == t.resource && m.Generation == t.seen.Generation {
				if !c.attested { // the authority may have gone with it
					c.attested, c.snap = true, nil
					return errAgain
				}
				t.gone = false
				return errAgain
			}
		}
	}
	return t.vanished()
}
