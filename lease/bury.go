package lease

import (
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/refstore"
)

// conclude ends a lost claim: what is left of it is given back, and the file says that it is over. It returns the loss. Before another is said to have
// taken the claim, what dead processes of this clone left open is settled: a release among it may have landed, and then the error is errAgain.
func (a *Authority) conclude(ctx Context, h Hold, st *standing) error {
	if !st.released {
		if err := a.settledToo(ctx, h); err != nil {
			return err
		}
	}
	m := a.moment()
	h.End = &End{How: EndLost, At: m.stamp(), By: st.lost.By, Reason: st.lost.Reason, Words: st.lost.Words}
	if st.released {
		h.End.How = EndReleased // by another process of the session
	}
	rest := Release{Reason: fmt.Sprintf("%s was lost", st.lost.Resource), Outcome: OutcomeAbandoned, At: m.stamp(), By: &h.Holder}
	if err := a.buryRest(ctx, h, st.ours, rest); err != nil {
		a.notify(Notice{Kind: NoticeRest, Resources: h.resources(), Err: err})
	}
	return st.lost
}

// settledToo settles what is open of a claim. It returns errAgain where that has ended it.
func (a *Authority) settledToo(ctx Context, h Hold) error {
	if err := a.resolve(ctx, h.resources()); err != nil {
		return err
	}
	now, err := a.current(h)
	if now.End != nil {
		return errAgain
	}
	return err
}

// withdraw gives back what a server without atomic swaps granted of a claim.
func (a *Authority) withdraw(ctx Context, h Hold) error {
	s, err := a.read(ctx, h.resources())
	if err != nil {
		return err
	}
	m := a.moment()
	ours := stand(&h, s).ours
	h.End = &End{How: EndReleased, At: m.stamp(), Reason: "withdrawn"}
	return a.buryRest(ctx, h, ours, Release{Reason: "withdrawn", Outcome: OutcomeAbandoned, At: m.stamp(), By: &h.Holder})
}

// buryRest buries what there is of a claim until nothing is left of it.
func (a *Authority) buryRest(ctx Context, ended Hold, ours []*tip, rel Release) error {
	var t tries
	for {
		err := a.bury(ctx, ended, ours, rel)
		if err == nil {
			return nil
		}
		if err := a.again(ctx, &t, VerbRelease, ended.resources(), err); err != nil {
			return err
		}
		s, err := a.read(ctx, ended.resources())
		if err != nil {
			return err
		}
		ours = stand(&ended, s).ours
	}
}

// bury writes tombstones over the given members of a claim, and saves the ended hold once that is done. Where the server can't do it at
// once, they are written one by one, and the file calls the claim active until the last.
func (a *Authority) bury(ctx Context, ended Hold, ours []*tip, rel Release) error {
	return a.buryAs(ctx, ended, ours, rel.over)
}

// tomb makes the tombstone that replaces a tip.
type tomb func(t *tip, revision uint64) *Record

// over is the tombstone over a tip that says no more than the release.
func (rel Release) over(t *tip, revision uint64) *Record {
	return t.rec.tombstone(t.oid, revision, rel)
}

// buryAs is bury with tombstones that are each made by itself.
func (a *Authority) buryAs(ctx Context, ended Hold, ours []*tip, tombstone tomb) error {
	if len(ours) == 0 {
		return a.local.SaveHold(ended)
	}
	err := a.buryAtOnce(ctx, ended, ours, tombstone)
	if len(ours) == 1 || !errors.Is(err, ErrNotAtomic) {
		return err
	}
	if errors.Is(err, refstore.ErrHalfApplied) {
		return errAgain
	}
	for i := range ours {
		hold := ended
		if i < len(ours)-1 {
			hold.End = nil
		}
		if err := a.buryAtOnce(ctx, hold, ours[i:i+1], tombstone); err != nil {
			return err
		}
	}
	return nil
}

func (a *Authority) buryAtOnce(ctx Context, hold Hold, ours []*tip, tombstone tomb) error {
	i, err := a.burial(hold, ours, tombstone)
	if err != nil {
		return err
	}
	return a.write(ctx, i)
}

// burial is the intent of tombstones over the given members of a claim.
func (a *Authority) burial(hold Hold, ours []*tip, tombstone tomb) (*Intent, error) {
	for _, t := range ours {
		hold.Revision = max(hold.Revision, t.rec.Revision+1)
	}
	records := make([]*Record, len(ours))
	for i, t := range ours {
		records[i] = tombstone(t, hold.Revision)
	}
	return a.intend(VerbRelease, hold, records)
}
