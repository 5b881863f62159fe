package lease

import (
	"context"
	"errors"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Context is context.Context, named here so that the vocabulary reads without imports.
type Context = context.Context

// ErrIntentBusy is returned by [Local.Begin] where a living process of this clone is in the middle of a write for one of the resources.
var ErrIntentBusy = errors.New("another process of this clone is writing the same claim")

// Verb names what an intent is for.
type Verb string

// The verbs that write.
const (
	VerbClaim   Verb = "claim"
	VerbRenew   Verb = "renew"
	VerbRelease Verb = "release"
	VerbMove    Verb = "move"
	VerbPush    Verb = "push"  // a renewal that goes out with what it fences
	VerbForce   Verb = "force" // without an intent: it holds nothing for anybody
)

// Intent is a write that was decided and saved before it was sent, so that whoever comes after a crash can tell how it ended.
type Intent struct {
	// ID is random, and safe as a file name.
	ID   string `json:"id"`
	Verb Verb   `json:"verb"`
	// Session is whose claim is written. Of a move, Hold is already the other session's.
	Session   string     `json:"session"`
	Resources []Resource `json:"resources"`
	// Tx is what is sent, to the byte.
	Tx *refstore.Tx `json:"tx"`
	// Hold is what the session holds once Tx has landed. It contains the key of a new claim.
	Hold Hold `json:"hold"`
	// Expires is when the lease that Tx would make has expired by everybody's clock. An undecided intent is dropped then.
	Expires time.Time `json:"expires"`

	// other says that its claim stands at a ref by another record than its own.
	other bool
}

// Local is what one clone remembers between processes, seen by one session. internal/session keeps it on disk; [MemoryLocal] is for tests.
// It is safe for use by several goroutines and processes. Data that can't be read is an error, never "nothing".
type Local interface {
	// Holds are this session's claims, ended ones included, oldest first.
	Holds() ([]Hold, error)
	// SaveHold stores a claim in the file of h.Holder.Session, replacing the one with the same claim ID if [Hold.Replaces] says so; one that comes
	// back is the newest then, and one that was confirmed stays confirmed. Ended claims older than the newest 100 of a session may be dropped.
	SaveHold(h Hold) error

	// Begin saves an intent and locks it until End, or until the process dies. It returns [ErrIntentBusy] where an
	// intent for one of its resources is locked by another process, and an [*OpenIntentError] where one was left behind.
	Begin(i *Intent) error
	// End forgets an intent and unlocks it.
	End(i *Intent) error
	// Leave unlocks an intent and keeps it: its outcome is unknown.
	Leave(i *Intent) error
	// Pending are the intents of all sessions of this clone that touch any of resources (none given: all), and
	// that their writers left behind. Each is locked for the caller, who calls End or Leave on it. Those in busy have a living writer,
	// to whom they are left.
	Pending(resources ...Resource) (left, busy []*Intent, err error)

	// Turn takes the turn to renew claims, until done is called or the process dies. Keepers and pushes of a clone take turns, so that none builds upon
	// what another is about to replace. It does not wait: where another has the turn of one of them it returns [ErrIntentBusy].
	Turn(claims ...ClaimID) (done func(), err error)

	// Seen is what was seen last of each resource; those never seen are left out.
	Seen(resources ...Resource) (map[Resource]Sighting, error)
	// See merges sightings with [Sighting.Merge]: generation and revision never go down.
	See(sightings ...Sighting) error

	// Meta is what was last read of the authority's meta ref; zero if never.
	Meta() (MetaSighting, error)
	SeeMeta(m MetaSighting) error
}

// OpenIntentError names the intent that stands in the way of a new one.
type OpenIntentError struct{ Intent *Intent }

func (e *OpenIntentError) Error() string { return "an earlier write has an unknown outcome" }

// Sighting is the newest that a clone has seen of a resource.
type Sighting struct {
	Resource   Resource     `json:"resource"`
	Generation Generation   `json:"generation"`
	Revision   uint64       `json:"revision"`
	Tip        refstore.OID `json:"tip"`
	// First is when this clone first saw Tip, by the boot clock; FirstDate likewise by the server's Date, zero without one. For
	// expiry by observation.
	First     Instant   `json:"first"`
	FirstDate time.Time `json:"first_date,omitzero"`
	// Free says that Tip is a release that hands nothing on: no reservation, no note, no checkpoint. A claim may then be built upon Tip
	// without reading it.
	Free bool `json:"free,omitempty"`
}

// Merge is what is known once s was known and next is seen. Generation and revision never go down, and a tip that is seen
// again keeps the time when it was first seen, unless the machine has been started anew since and there is no Date to count from.
func (s Sighting) Merge(next Sighting) Sighting {
	switch {
	case next.older(s):
		return s
	case next.Tip != s.Tip || s.Tip.IsZero():
		return next
	}
	if s.First.Boot == next.First.Boot && s.First.Boot != "" {
		next.First = s.First
	}
	if !s.FirstDate.IsZero() {
		next.FirstDate = s.FirstDate
	}
	return next
}

// older says whether s is of an earlier write than other.
func (s Sighting) older(other Sighting) bool {
	return s.Generation < other.Generation || s.Generation == other.Generation && s.Revision < other.Revision
}

// MetaSighting is what a clone knows of its authority.
type MetaSighting struct {
	Authority string       `json:"authority"`
	Tip       refstore.OID `json:"tip"`
	// Floor is the generation floor as read at At (wall clock).
	Floor Generation `json:"floor"`
	At    time.Time  `json:"at"`
	// Read is the same by the clock that runs through suspend.
	Read Instant `json:"read,omitzero"`
	// Dated says that the server told its Date, so that the stamps of a first request can be expected to be corrected by its reply.
	Dated bool `json:"dated,omitempty"`
}
