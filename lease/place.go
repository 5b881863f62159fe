package lease

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
)

// ErrMoving is returned where a claim was brought to this clone with its key, and its records don't say so yet, so it proves nothing until it is renewed.
var ErrMoving = errors.New("the claim was brought here and not renewed since")

// ErrBadHold is returned for what was brought from elsewhere and is no claim that this package has made.
var ErrBadHold = errors.New("not a claim")

// MoveTo is the claim at a new place, where the given holder has it. A place is a random name of wherever the key is used; that of where the claim
// was made is "". The next renewal writes it into the records, and from then on whoever has the key and an earlier place finds the claim lost. Of
// several places that a key was brought to, the first to renew has the claim.
func (h Hold) MoveTo(place string, holder Holder) Hold {
	h.From = append(slices.Clone(h.From), h.Place)
	h.Place, h.Holder = place, holder
	return h
}

// stays says whether a record of the claim is where the hold may renew it.
func (h *Hold) stays(r *Record) bool { return r.Place == h.Place || slices.Contains(h.From, r.Place) }

// settleAt makes r say where the claim is.
func (h *Hold) settleAt(r *Record) {
	if r.Place != h.Place {
		r.Place, r.Holder = h.Place, h.Holder
	}
}

// movedOn says how a record of our claim at another place ended our hold on it.
func movedOn(t *tip) LostError {
	by := t.rec.Holder
	return LostError{Resource: t.resource, By: &by, Since: t.rec.RenewedAt, Reason: "moved to another clone"}
}

// Prove says whether a claim that is about to be brought here still stands at the remote: nil, a [*LostError], a [*WrongAuthorityError], or why that
// can't be told. It changes nothing.
func (a *Authority) Prove(ctx Context, h Hold) error {
	st, _, err := a.look(ctx, &h)
	switch {
	case err != nil:
		return err
	case st.lost != nil:
		return st.lost
	}
	return st.unknown
}

// Check returns [ErrBadHold], wrapped, for what can't be a claim that stands: without its key, outside of the limits, ended.
func (h *Hold) Check() error {
	switch {
	case len(h.Key) != ed25519.PrivateKeySize || !h.Key.Equal(ed25519.NewKeyFromSeed(h.Key.Seed())) || h.Claim != claimID(public(h.Key)):
		return fmt.Errorf("%w: its ID is not that of its key", ErrBadHold)
	case h.End != nil:
		return fmt.Errorf("%w: it has ended", ErrBadHold)
	case !validID(h.Authority):
		return fmt.Errorf("%w: authority %q", ErrBadHold, h.Authority)
	case h.Revision == 0 || h.Revision > maxNumber || !sane(h.ClaimedAt) || !sane(h.RenewedAt):
		return fmt.Errorf("%w: revision or time stamps", ErrBadHold)
	case checkTTL(h.TTL) != nil || h.Grace < 0 || h.Grace > MaxGrace:
		return fmt.Errorf("%w: terms", ErrBadHold)
	}
	for _, text := range slices.Concat(h.From, []string{h.Place, h.Holder.Agent, h.Holder.Session}) {
		if err := checkText(text, MaxName); text != "" && err != nil {
			return fmt.Errorf("%w: %w", ErrBadHold, err)
		}
	}
	return h.checkMembers()
}

func (h *Hold) checkMembers() error {
	for _, m := range h.Members {
		r := Record{Resource: m.Resource, Members: h.resources()}
		if err := r.checkMembers(); err != nil {
			return fmt.Errorf("%w: %w", ErrBadHold, err)
		}
		if err := checkText(string(m.Resource), MaxResource); err != nil || m.Generation == 0 || m.Generation > maxNumber {
			return fmt.Errorf("%w: resource or generation", ErrBadHold)
		}
	}
	if len(h.Members) == 0 {
		return fmt.Errorf("%w: no resources", ErrBadHold)
	}
	return nil
}
