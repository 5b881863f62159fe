package refstore

import (
	"context"
	"time"
)

// Store is the records under one prefix of one repository's refs. It is safe for use by several goroutines.
//
// Every method returns at the context's deadline at the latest, with [ErrUnavailable], or with [ErrUndecided] where a
// swap had been sent.
type Store interface {
	// List reads the refs that match any of patterns, with their records, sorted by name. A pattern that ends with
	// a slash selects the refs below it, one that ends with a star those whose names begin with what stands before it, any other the
	// ref of exactly this name. Absent refs are not listed. A ref whose object is no record is listed with Err set, and so is one that the server
	// can't read, at [Unreadable], where reading it again does not help. A listing is not
	// a snapshot: each ref is read at some time between the call and its return.
	List(ctx context.Context, patterns ...string) ([]Ref, error)

	// Log reads the records from tip back to the first, newest first, at most limit of them. A commit that is no record ends it: of that only
	// the OID is set.
	Log(ctx context.Context, tip OID, limit int) ([]Commit, error)

	// Build makes the commits of a swap and sends nothing. Equal changes give equal transactions.
	Build(changes ...Change) (*Tx, error)

	// Swap applies all changes of tx or none, each only if its ref is still at Old. See the package comment for what each
	// error promises. ours may be nil; otherwise it says whether a tip that is neither Old nor New was made by a
	// later write of the same writer, which shows that tx landed and was built upon.
	Swap(ctx context.Context, tx *Tx, ours func(Ref) bool) error

	// Settle reads whether tx, sent by a process that is gone or gave up, has landed. It sends nothing.
	Settle(ctx context.Context, tx *Tx, ours func(Ref) bool) (State, []Ref, error)

	// Landed tells the store of a transaction that has landed by other means than Swap, whose records need not be read then.
	Landed(tx *Tx)

	// Server is what is known of the server, from Options or from the exchanges of this process.
	Server() Server

	// Skew is the server's clock minus ours, known once a transport that has the server's Date has answered.
	// It is good to a second. It is never stored.
	Skew() (offset time.Duration, known bool)

	// Close frees connections. Unfinished calls fail.
	Close() error
}

// Ref is a ref and the record at its tip.
type Ref struct {
	Name string
	// Commit is the record. Only its OID is set where Err is.
	Commit Commit
	// Err says why the object at the tip is no record.
	Err error
}

// Change is what a swap does to one ref.
type Change struct {
	Ref string `json:"ref"`
	// Old is what the ref must hold when the server decides; zero: it must not exist.
	Old OID `json:"old,omitempty"`
	// Message is the new record; nil deletes the ref, and then Old must not be zero.
	Message []byte `json:"message,omitempty"`
	// When is the record's date; whole seconds of UTC go into the commit.
	When time.Time `json:"when"`
}

// Update is a change with the commit that makes it.
type Update struct {
	Change
	// New is the new commit; zero for a delete.
	New OID `json:"new,omitempty"`
}

// Tx is a swap that was built, ready to be saved and sent, again and again if need be.
type Tx struct {
	Format  Format   `json:"format"`
	Updates []Update `json:"updates"`
	// Doubt says that an earlier request for this transaction was or may have been sent, and that nothing showed its end.
	// Swap then never reports that it did not land for the sole reason that this request was refused.
	Doubt bool `json:"doubt,omitempty"`
}

// State is how a transaction stands, judged by the refs' tips.
type State int

// The states of a transaction.
const (
	// Open: every tip is still at Old. What was sent may land yet.
	Open State = iota
	// Landed: a tip is at New, or at a later write of the same writer.
	Landed
	// Dead: a tip has left Old for something else. It never will land.
	Dead
	// Overtaken: it landed, and since then another writer has replaced a tip.
	Overtaken
)

// Server is what is known of a git server. It may be kept for a day, and is never trusted for exclusion: only for
// whether a request may be sent without asking first.
type Server struct {
	// Known is when the capabilities of receive-pack were read; zero if never.
	Known time.Time `json:"known"`
	// Atomic says whether the server applies several refs all or none.
	Atomic bool `json:"atomic"`
	// Format is the repository's object format.
	Format Format `json:"format,omitempty"`
	// ReadV2 says whether upload-pack speaks protocol version 2.
	ReadV2 bool `json:"read_v2,omitempty"`
	// Agent is the server's name for itself.
	Agent string `json:"agent,omitempty"`
}

// ServerLife is how long what is known of a server may be used.
const ServerLife = 24 * time.Hour
