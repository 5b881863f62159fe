package lease

import (
	"crypto/ed25519"
	"time"
)

// Resource is what workers contend for, byte for byte: 1 to 1024 bytes of UTF-8, no control characters, no blank at
// either end. See [ParseResource].
type Resource string

// Generation is the number of an epoch on one resource, the fencing token: it grows with each new holder and never repeats.
type Generation uint64

// ClaimID is the first 32 hex digits of the SHA-256 of a claim's public key.
type ClaimID string

// Holder says who holds a claim. It explains, and never authorises: the key does.
type Holder struct {
	Agent    string `json:"agent"`
	Session  string `json:"session"`
	Host     string `json:"host,omitempty"`
	Operator string `json:"operator,omitempty"`
}

// String is "agent/session".
func (h Holder) String() string { return h.Agent + "/" + h.Session }

// Instant is a reading of a clock that runs through suspend, within one boot of one machine.
type Instant struct {
	// Boot names the boot; readings of different boots can't be compared.
	Boot string `json:"boot"`
	// Since counts from an arbitrary point of that boot.
	Since time.Duration `json:"since"`
}

// Clock is where a process reads time. The released binary uses [SystemClock] alone.
type Clock interface {
	// Now is the wall clock.
	Now() time.Time
	// Instant is the clock that runs through suspend.
	Instant() Instant
	// Sleep waits for d or for the end of ctx, whose error it returns.
	Sleep(ctx Context, d time.Duration) error
}

// Hold is what a claimant keeps of its claim: all that is needed to renew and release it.
type Hold struct {
	Authority string  `json:"authority"`
	Claim     ClaimID `json:"claim"`
	// Key signs renewals and the release. It is a secret, and is never printed.
	Key    ed25519.PrivateKey `json:"key"`
	Holder Holder             `json:"holder"`
	// Members are sorted by resource.
	Members []Member `json:"members"`
	// Revision is that of the last write known to have landed.
	Revision uint64 `json:"revision"`
	// ClaimedAt and RenewedAt are the record's stamps.
	ClaimedAt time.Time `json:"claimed_at"`
	RenewedAt time.Time `json:"renewed_at"`
	// TTL and Grace are the record's.
	TTL   time.Duration `json:"ttl"`
	Grace time.Duration `json:"grace"`
	// Deadline is when the claim must be thought lost by the suspend-proof clock: start of the last landed request + TTL.
	Deadline Instant `json:"deadline"`
	// Place is where the key is used, see [Hold.MoveTo]; "" where the claim was made. From are the places that its records may still name.
	Place string   `json:"place,omitempty"`
	From  []string `json:"from,omitempty"`
	// Unconfirmed says that the claim has paths, and that nobody has looked yet whether another claim that overlaps came at the same time.
	// Until then it does not count as held.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// End is set once the claim is over.
	End *End `json:"end,omitempty"`
}

// Member is one resource of a claim.
type Member struct {
	Resource   Resource   `json:"resource"`
	Generation Generation `json:"generation"`
	// Tip is the record that the last landed write left at the ref, "" where it was never seen.
	Tip string `json:"tip"`
}

// Ending is how a claim ended.
type Ending string

// The endings of a claim.
const (
	EndReleased Ending = "released" // by its own session
	EndLost     Ending = "lost"     // taken over, forced, deleted
	EndMoved    Ending = "moved"    // handed to another session, which has the key now; Reason says to which
)

// End says how and when a claim ended, and for a lost one who has it.
type End struct {
	How    Ending    `json:"how"`
	At     time.Time `json:"at"`
	By     *Holder   `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	// Words are what whoever ended the claim by force gave as the reason.
	Words string `json:"words,omitempty"`
}

// Replaces says whether h may stand in for saved, the same claim as a session's file has it. A claim that ended stays ended, and as it did, whatever
// a process finds at its ref that did not know; unless it was moved to another session and comes back later, or what was thought lost had been
// released. One that is at another place by now stays there.
func (h *Hold) Replaces(saved *Hold) bool {
	switch {
	case h.Place != saved.Place:
		return false
	case saved.End == nil:
		return true
	case h.End == nil:
		return saved.End.How == EndMoved && h.Revision > saved.Revision
	}
	return h.End.How == saved.End.How || saved.End.How == EndLost && h.End.How == EndReleased
}
