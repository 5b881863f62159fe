package refstore

import (
	"context"
	"time"
)

// Transport carries single exchanges with one repository. It does not retry, does not keep records and concludes
// nothing; [New] makes a [Store] of it. It is safe for use by several goroutines.
//
// A method that fails returns an [*UnavailableError], which says whether the server may have received the request, or an
// [*UnsupportedError] where this transport can't do it and nothing was sent.
type Transport interface {
	// Refs lists the refs whose names start with any of prefixes, and possibly others. One that the server has and can't read is at [Unreadable].
	Refs(ctx context.Context, prefixes []string) (map[string]OID, error)
	// Commits reads commits: the wanted ones (depth 1), or those with up to depth-1 ancestors each. It may return more than
	// asked for; what the server does not have is left out or an error. An object that is too large or is no commit is left out.
	Commits(ctx context.Context, wants []OID, depth int) ([]Object, error)
	// Push sends tx in one request and returns the server's complete report. An error without a complete report has Sent set
	// unless the server cannot have begun. Where the server advertises its refs first and they contradict tx, nothing is sent and
	// the report is stale.
	Push(ctx context.Context, tx *Tx) (*Report, error)
	// Server is what was learned so far.
	Server() Server
	// Skew is the server's Date minus our clock.
	Skew() (offset time.Duration, known bool)
	Close() error
}

// Object is a commit as it came: its content is not yet checked against its ID.
type Object struct {
	OID     OID
	Content []byte
}

// Report is the answer of receive-pack to one request.
type Report struct {
	// Stale says that the advertised refs contradicted the request, which was not sent.
	Stale bool
	// Advertised holds the refs under the prefix of the request's refs as the server advertised them before the
	// request; nil where it did not.
	Advertised map[string]OID
	// Unpack is the server's word on the pack: "ok", or what was wrong.
	Unpack string
	// Refused maps each refused ref to the server's reason. It explains and decides nothing. Every ref of the request
	// that is not in it was reported ok.
	Refused map[string]string
	// Words is what the server wrote for people, hooks included.
	Words string
}

// OK says whether the server reported every ref as done.
func (r *Report) OK() bool { return !r.Stale && r.Unpack == "ok" && len(r.Refused) == 0 }
