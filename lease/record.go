package lease

import (
	"encoding/json"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Version is the version of records that this package writes. Newer ones are shown, and never written over.
const Version = 1

// Kind tells the records of an authority apart.
type Kind string

// The kinds of records that this package reads.
const (
	KindLease Kind = "lease"
	KindMeta  Kind = "meta"
)

// State is whether a record claims its resource. A state that this version doesn't know counts as active.
type State string

// The states of a record.
const (
	StateActive   State = "active"
	StateReleased State = "released"
)

// Outcome is how the work ended, in the words of whoever released the claim.
type Outcome string

// The outcomes of work.
const (
	OutcomeDone      Outcome = "done"
	OutcomeReview    Outcome = "review"    // finished, to be merged by another
	OutcomeAbandoned Outcome = "abandoned" // given up
)

// Record is the lease of one resource: what stands at its ref.
type Record struct {
	V         int      `json:"v"`
	Kind      Kind     `json:"kind"`
	Authority string   `json:"authority"`
	Resource  Resource `json:"resource"`
	Claim     ClaimID  `json:"claim"`
	// Members are all resources of the claim, sorted.
	Members []Resource `json:"members"`
	Holder  Holder     `json:"holder"`
	// Place tells apart where the claim's key was brought to, see [Hold.MoveTo]; "" where the claim was made.
	Place   string `json:"place,omitempty"`
	Purpose string `json:"purpose,omitempty"`
	// Generation grows with each claim of the resource, Revision with each write of one claim.
	Generation Generation `json:"generation"`
	Revision   uint64     `json:"revision"`
	// TTLSeconds, GraceSeconds, Takeover and Expiry are the terms that the holder was promised.
	TTLSeconds   int64    `json:"ttl_seconds"`
	GraceSeconds int64    `json:"grace_seconds"`
	Takeover     Takeover `json:"takeover"`
	Expiry       Expiry   `json:"expiry"`
	// ClaimedAt and RenewedAt are on the writer's clock, corrected by the server's Date where there was one.
	ClaimedAt time.Time `json:"claimed_at"`
	RenewedAt time.Time `json:"renewed_at"`
	State     State     `json:"state"`
	// Release is set once State is released.
	Release *Release `json:"release,omitempty"`
	// Predecessor is the claim that this one took over, or was handed on from.
	Predecessor *Predecessor `json:"predecessor,omitempty"`
	// Checkpoint is data to resume from.
	Checkpoint json.RawMessage   `json:"checkpoint,omitempty"`
	Meta       map[string]string `json:"meta,omitempty"`
	// Push is random, and set in the one renewal that went out with a push of code. Another renewal of the same moment would be the same object, and that it
	// stands at the ref would say nothing of the code.
	Push string `json:"push,omitempty"`
	// Key is the public key that the record is signed with.
	Key []byte `json:"key"`
	// Prev is the record that this one replaced; zero in the first of a ref.
	Prev refstore.OID `json:"prev,omitempty"`

	// raw is the line that the record was read from, "" for a new one. It keeps members that this version doesn't know.
	raw []byte
}

// Release is how and by whom a claim was ended.
type Release struct {
	Reason  string    `json:"reason,omitempty"`
	Outcome Outcome   `json:"outcome,omitempty"`
	At      time.Time `json:"at"`
	By      *Holder   `json:"by,omitempty"`
	// Forced says that somebody other than the holder did it.
	Forced bool `json:"forced,omitempty"`
	// ReservedFor is the agent that alone may claim until ReservedUntil.
	ReservedFor   string    `json:"reserved_for,omitempty"`
	ReservedUntil time.Time `json:"reserved_until,omitzero"`
	// Note is for the next holder.
	Note string `json:"note,omitempty"`
}

// Predecessor names the claim before this one.
type Predecessor struct {
	Claim      ClaimID    `json:"claim"`
	Holder     Holder     `json:"holder"`
	Generation Generation `json:"generation"`
	RenewedAt  time.Time  `json:"renewed_at"`
	// Why is the liveness at which it was taken over, "released", or "forced" for a release by force.
	Why string `json:"why"`
}

// TTL is for how long after RenewedAt the claim is the holder's.
func (r *Record) TTL() time.Duration { return time.Duration(r.TTLSeconds) * time.Second }

// Grace is how much longer a contender waits at least.
func (r *Record) Grace() time.Duration { return time.Duration(r.GraceSeconds) * time.Second }

// Until is when the claim expires, by the clock that stamped the record.
func (r *Record) Until() time.Time { return r.RenewedAt.Add(r.TTL()) }

// over is when the lease can be taken by its own terms.
func (r *Record) over() time.Time {
	if r.Takeover == TakeoverStale {
		return r.RenewedAt.Add(r.TTL() + r.Grace())
	}
	return r.RenewedAt.Add(4*r.TTL() + r.Grace())
}

// Released says whether the record ends its claim.
func (r *Record) Released() bool { return r.State == StateReleased }

// handsOn says whether a released record has anything for the next holder to read: data, a note, or why the work is not done.
func (r *Record) handsOn() bool {
	rel := r.Release
	return len(r.Checkpoint) > 0 || rel != nil && (rel.ReservedFor != "" || rel.Note != "" || rel.Forced ||
		rel.Outcome != OutcomeDone && (rel.Reason != "" || len(r.Meta) > 0))
}

// sighting is what a clone remembers of the record.
func (r *Record) sighting(tip refstore.OID, m moment) Sighting {
	return Sighting{
		Resource: r.Resource, Generation: r.Generation, Revision: r.Revision, Tip: tip,
		First: m.at, FirstDate: m.date(), Free: r.Released() && !r.handsOn(),
	}
}

// predecessor is what the next claim says of this record.
func (r *Record) predecessor(why string) *Predecessor {
	return &Predecessor{Claim: r.Claim, Holder: r.Holder.brief(), Generation: r.Generation, RenewedAt: r.RenewedAt, Why: why}
}

// brief is the holder without texts that are longer than any of this package: others may have written a record that is full of them.
func (h Holder) brief() Holder {
	if len(h.Host) > MaxName {
		h.Host = ""
	}
	if len(h.Operator) > MaxName {
		h.Operator = ""
	}
	return h
}

// strip leaves out what a release can do without. A record that somebody has filled up to its limit can be ended all the same.
func (r *Record) strip() {
	r.raw, r.Checkpoint, r.Meta, r.Purpose, r.Predecessor = nil, nil, nil, "", nil
	r.Holder = r.Holder.brief()
	if r.Takeover != TakeoverStale {
		r.Takeover = TakeoverDead
	}
	if r.Expiry != ExpiryClock {
		r.Expiry = ExpiryObserved
	}
}

// renewed is the record that follows r in the same claim.
func (r *Record) renewed(prev refstore.OID, revision uint64, at time.Time) *Record {
	next := *r
	next.Prev, next.Revision, next.RenewedAt, next.Push = prev, revision, at, ""
	return &next
}

// tombstone is the record that ends r's claim.
func (r *Record) tombstone(prev refstore.OID, revision uint64, release Release) *Record {
	next := *r
	next.Prev, next.Revision, next.Push = prev, revision, ""
	next.State, next.Release = StateReleased, &release
	return &next
}
