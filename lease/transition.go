package lease

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// ErrBreach is a step of a ref that no verb of this package makes, because it breaks what a holder was promised. See [BreachError].
var ErrBreach = errors.New("not a step that a claim may take")

// Breach tells apart what a step breaks.
type Breach string

// The breaches.
const (
	BreachAuthority Breach = "authority" // a record of another authority
	BreachChain     Breach = "chain"     // not built upon what stands at the ref
	BreachResource  Breach = "resource"  // a resource that is not in its normal form
	BreachStamp     Breach = "stamp"     // a stamp that is off the server's clock
	BreachBackwards Breach = "backwards" // a generation, a revision or a floor that does not grow as it has to
	BreachRevived   Breach = "revived"   // a claim that was written again after its release
	BreachChanged   Breach = "changed"   // what stays the same for as long as a claim lasts
	BreachForeign   Breach = "foreign"   // written over the claim of another, with another key
	BreachEarly     Breach = "early"     // taken or ended by another before its time was up
	BreachReserved  Breach = "reserved"  // kept for another agent
	BreachForced    Breach = "forced"    // ended by force, by somebody who may not
	BreachTorn      Breach = "torn"      // a claim of several resources that was not written whole
	BreachDeleted   Breach = "deleted"   // a ref that has to stay
)

// BreachError is a step that was refused.
type BreachError struct {
	Breach Breach
	// Resource is "" for the authority's own record.
	Resource Resource
	// Why says what is wrong, to follow the resource.
	Why string
}

func (e *BreachError) Error() string {
	return fmt.Sprintf("%s: %s", cmp.Or(string(e.Resource), "the authority's record"), e.Why)
}

// Is links the type to [ErrBreach].
func (e *BreachError) Is(target error) bool { return target == ErrBreach }

// TransitionRules are what a step is judged by beside the two records. [Meta.Rules] fills in what the authority's record says.
type TransitionRules struct {
	// Authority is the authority's ID.
	Authority string
	// Floor is the generation above which an epoch begins that creates its ref. Top is the highest floor, and Proven the one that has stood for long
	// enough, so that what it covers may be deleted.
	Floor, Top, Proven Generation
	// Tip is what stands at the ref; zero for nothing.
	Tip refstore.OID
	// Corrupt says that it is no valid record, and old is nil for that reason.
	Corrupt bool
	// With are the records that the same transaction writes, next among them.
	With []*Record
	// Force says that whoever writes may end the claims of others.
	Force bool
	// Tolerance is how far a stamp may be from the time of the step; 0: 30 s.
	Tolerance time.Duration
}

// mostLeap is by how much a generation or a floor may lie above all that stands: a repair leaves floorLeap for what it can't know.
const mostLeap = 2 * floorLeap

// Transition says whether the ref of a lease may go from old to next: nil, or a [*BreachError]. It is what a server refuses in the name of a holder
// that can't speak for itself, and it passes every step that the verbs of this package make while their clocks are within the tolerance. A nil old is
// a ref that is created, or one that holds no valid record (rules.Corrupt); a nil next is one that is deleted. at is the server's clock.
//
// It is pure. Signature, form, limits and place of the records are not its business, see [ReadRecord], nor is who may claim what.
func Transition(old, next *Record, at time.Time, rules TransitionRules) error {
	rules.Tolerance = cmp.Or(rules.Tolerance, clockTolerance)
	s := &transition{old: old, next: next, at: at, TransitionRules: rules}
	if next == nil {
		return s.deleted()
	}
	if err := s.written(); err != nil {
		return err
	}
	switch {
	case rules.Corrupt:
		return s.repaired()
	case old == nil:
		return s.created()
	case next.Claim == old.Claim:
		return s.continued()
	case next.Released():
		return s.ended()
	default:
		return s.taken()
	}
}

// transition is one step.
type transition struct {
	old, next *Record
	at        time.Time
	TransitionRules
}

func (s *transition) breach(b Breach, format string, args ...any) error {
	r := s.next
	if r == nil {
		r = s.old
	}
	e := &BreachError{Breach: b, Why: fmt.Sprintf(format, args...)}
	if r != nil {
		e.Resource = r.Resource
	}
	return e
}

// written is what every record must be that is written.
func (s *transition) written() error {
	r := s.next
	switch normal, err := ParseResource(string(r.Resource)); {
	case r.Authority != s.Authority:
		return s.breach(BreachAuthority, "a record of authority %q, and this is %q", r.Authority, s.Authority)
	case s.old != nil && s.old.Authority != s.Authority:
		return s.breach(BreachAuthority, "a record of authority %q stands there, and this is %q", s.old.Authority, s.Authority)
	case r.Prev != s.Tip:
		return s.breach(BreachChain, "it replaces %s, and %s stands there", orNothing(r.Prev), orNothing(s.Tip))
	case err != nil || normal != r.Resource || r.Resource.IsPool():
		return s.breach(BreachResource, "nobody can claim this key as it stands")
	}
	if err := s.stamped(); err != nil {
		return err
	}
	return s.whole()
}

func orNothing(oid refstore.OID) string { return cmp.Or(oid.Short(), "nothing") }

// stamped compares the stamp of the write with the server's clock. A tombstone that adds to another may keep its time.
func (s *transition) stamped() error {
	r := s.next
	stamp := r.writtenAt()
	if r.Released() && s.old != nil && s.old.Released() && s.old.Claim == r.Claim && stamp.Equal(s.old.Release.At) {
		return nil
	}
	if off := stamp.Sub(s.at); off.Abs() > s.Tolerance {
		return s.breach(BreachStamp, "stamped %s, which is off this server's clock by %s", stamp.UTC().Format(time.RFC3339), off.Round(time.Second))
	}
	if rel := r.Release; r.Released() && rel.ReservedUntil.After(rel.At.Add(r.TTL())) {
		return s.breach(BreachReserved, "reserved until %s, which is longer than its ttl", rel.ReservedUntil.UTC().Format(time.RFC3339))
	}
	return nil
}

// whole says whether a claim is written with all of its members, which a release need not be.
func (s *transition) whole() error {
	r := s.next
	if r.Released() {
		return nil
	}
	for _, m := range r.Members {
		if m != r.Resource && !slices.ContainsFunc(s.With, func(o *Record) bool { return o.Resource == m && o.sameWrite(r) }) {
			return s.breach(BreachTorn, "its claim has %s as well, which has to be written by the same push, with --atomic", m)
		}
	}
	return nil
}

// sameWrite says whether two records are of one write of one claim.
func (r *Record) sameWrite(o *Record) bool {
	return r.Claim == o.Claim && r.Revision == o.Revision && !r.Released() && r.RenewedAt.Equal(o.RenewedAt) && slices.Equal(r.Members, o.Members)
}

// first is what the first record of a claim must be; below is a generation that it lies above.
func (s *transition) first(below Generation) error {
	r := s.next
	switch {
	case r.Generation <= below:
		return s.breach(BreachBackwards, "generation %d does not come after %d", r.Generation, below)
	case r.Generation > max(below, s.Top)+mostLeap:
		return s.breach(BreachBackwards, "generation %d is out of all proportion to %d", r.Generation, max(below, s.Top))
	case r.Revision != 1:
		return s.breach(BreachBackwards, "a new claim begins with revision %d instead of 1", r.Revision)
	case r.ClaimedAt.Sub(s.at).Abs() > s.Tolerance:
		return s.breach(BreachStamp, "claimed at %s by a clock that is off this server's", r.ClaimedAt.UTC().Format(time.RFC3339))
	}
	return nil
}

func (s *transition) created() error {
	if s.next.Released() {
		return s.breach(BreachForeign, "a release of what nobody has claimed")
	}
	return s.first(s.Floor)
}

// repaired is about what may replace a corrupt record: a tombstone.
func (s *transition) repaired() error {
	if r := s.next; !r.Released() || !r.Release.Forced {
		return s.breach(BreachForeign, "a corrupt record stands there, which only a repair replaces")
	}
	return s.first(s.Floor)
}

// continued is about two records of one claim.
func (s *transition) continued() error {
	was, now := s.old, s.next
	switch {
	case was.Released() && !now.Released():
		return s.breach(BreachRevived, "its claim was released, and can't be renewed")
	case now.Generation != was.Generation || now.Revision <= was.Revision:
		return s.breach(BreachBackwards, "%d.%d stands there, and %d.%d does not come after it", was.Generation, was.Revision, now.Generation, now.Revision)
	case !now.ClaimedAt.Equal(was.ClaimedAt) || !slices.Equal(now.Members, was.Members):
		return s.breach(BreachChanged, "the claim's resources or its beginning were changed")
	case now.Released() && !now.RenewedAt.Equal(was.RenewedAt):
		return s.breach(BreachChanged, "a release that changes when the claim was renewed")
	case now.Released() && now.Release.Forced:
		return s.breach(BreachForced, "a holder's own release that says it was forced")
	}
	return nil
}

// ended is about a tombstone over a claim that was not its own.
func (s *transition) ended() error {
	was, now := s.old, s.next
	switch {
	case now.Generation != was.Generation || now.Revision <= was.Revision:
		return s.breach(BreachBackwards, "%d.%d stands there, and %d.%d does not come after it", was.Generation, was.Revision, now.Generation, now.Revision)
	case !now.RenewedAt.Equal(was.RenewedAt) || !now.ClaimedAt.Equal(was.ClaimedAt) || !slices.Equal(now.Members, was.Members):
		return s.breach(BreachChanged, "a release that changes what the claim was")
	case now.Release.Forced && s.Force:
		return nil
	case now.Release.Forced:
		return s.breach(BreachForced, "%s has it, and you are not listed as one who may release by force", was.Holder)
	}
	return s.overlapped()
}

// overlapped is about a claim that ends because its path overlaps with one that is claimed by the same transaction.
func (s *transition) overlapped() error {
	was, now := s.old, s.next
	i := slices.IndexFunc(s.With, func(r *Record) bool {
		return r.Claim == now.Claim && !r.Released() && r.Revision == 1 && Overlap(r.Resource, was.Resource)
	})
	if i < 0 || was.Released() || now.Release.ReservedFor != "" {
		return s.breach(BreachForeign, "%s has it, and only the holder's key can renew or release it", was.Holder)
	}
	return s.takeable(s.With[i])
}

// taken is about a new claim over what stands there.
func (s *transition) taken() error {
	was, now := s.old, s.next
	if now.Generation == was.Generation {
		return s.breach(BreachForeign, "%s has it, and only the holder's key can renew or release it", was.Holder)
	}
	if err := s.first(was.Generation); err != nil {
		return err
	}
	if err := s.takeable(now); err != nil {
		return err
	}
	if p := now.Predecessor; !was.Released() && (p == nil || p.Claim != was.Claim || p.Generation != was.Generation) {
		return s.breach(BreachChanged, "a take-over that does not name whom it displaces")
	}
	return nil
}

// takeable judges what stands there by the one rule of what may be taken, for whoever writes by. The server's clock may be ahead of theirs by half of the
// grace, which is what a holder's may be off by. It needs no observation, because it has let no stamp pass that was wrong.
func (s *transition) takeable(by *Record) error {
	was := *s.old
	was.Expiry = ExpiryClock
	v := judge(&was, Sighting{}, stance{
		agent: by.Holder.Agent, grace: by.Grace(), takeover: by.Takeover, expiry: ExpiryClock, moment: moment{wall: s.at}, supersede: true,
	})
	early := min(max(was.Grace(), by.Grace())/2, s.Tolerance)
	switch {
	case v.takeable || v.takeableIn <= early:
		return nil
	case v.reserved:
		return s.breach(BreachReserved, "it is reserved for %s until %s", was.Release.ReservedFor, s.at.Add(v.takeableIn).UTC().Format(time.RFC3339))
	}
	return s.breach(BreachEarly, "%s has it, and nobody may take it before %s", was.Holder, s.at.Add(v.takeableIn).UTC().Format(time.RFC3339))
}

// deleted is about what collecting may delete: a tombstone that is old, and that a floor covers which has stood for long enough.
func (s *transition) deleted() error {
	r := s.old
	switch {
	case r == nil && !s.Corrupt:
		return nil // nothing was there
	case r == nil:
		return s.breach(BreachDeleted, "a corrupt record is repaired by `git worklease doctor --repair`, not deleted")
	case !r.Released():
		return s.breach(BreachDeleted, "%s has it; a claim ends by a release, not by deleting its ref", r.Holder)
	case r.Generation > s.Proven:
		return s.breach(BreachDeleted, "generation %d would be forgotten: no floor covers it that has stood for long enough", r.Generation)
	case s.at.Add(s.Tolerance).Sub(r.Release.At) < MinRetention:
		return s.breach(BreachDeleted, "it was released less than %s ago", MinRetention)
	case judge(r, Sighting{}, stance{moment: moment{wall: s.at.Add(s.Tolerance)}}).reserved:
		return s.breach(BreachDeleted, "it is reserved for %s", r.Release.ReservedFor)
	}
	return nil
}

// ReadRecord reads the lease that a commit carries at a ref below prefix: signed, within the limits, at its own place. It returns [ErrCorrupt] or
// [ErrNewer], wrapped.
func ReadRecord(prefix, ref string, c refstore.Commit) (*Record, error) {
	if err := CheckCommit(c); err != nil {
		return nil, err
	}
	r, err := DecodeRecord(c)
	if err != nil {
		return nil, err
	}
	if (refs{prefix}).claim(r.Resource) != ref {
		return nil, fmt.Errorf("%w: a record of %q", ErrCorrupt, r.Resource)
	}
	return r, nil
}
