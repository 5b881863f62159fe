// Package memory is a repository in the process's memory, for tests of what is built upon a store. It keeps every promise of a real
// server's, and has no server's faults; tests wrap its transport to add those.
package memory

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Repository is refs and objects. Its zero value is empty and ready; it is safe for use by several goroutines.
type Repository struct {
	// Date is the server's clock; nil: the server tells no date.
	Date func() time.Time
	// Now is the clients' clock, which Date is compared with; nil: the system's.
	Now func() time.Time
	// NotAtomic makes the server apply what it can of a transaction, as one without the capability does.
	NotAtomic bool
	// Guard, where it is set, is asked before a transaction is applied whose old values are right, and refuses it by an error, as a server's hook does.
	// old is what stands at each of all refs, and next what is to stand at those that change.
	Guard func(old, next map[string]refstore.Ref) error

	mu      sync.Mutex
	refs    map[string]refstore.OID
	objects map[refstore.OID][]byte
}

// Transport is a new client of the repository.
func (r *Repository) Transport() refstore.Transport { return &transport{r: r} }

// Set moves a ref without asking anything, as an administrator or a restored copy does; a zero OID deletes it.
func (r *Repository) Set(ref string, oid refstore.OID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set(ref, oid)
}

// Refs is a copy of all refs.
func (r *Repository) Refs() map[string]refstore.OID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.refs)
}

// Add stores a commit object.
func (r *Repository) Add(content []byte) refstore.OID {
	r.mu.Lock()
	defer r.mu.Unlock()
	oid := refstore.SHA1.Hash("commit", content)
	r.add(oid, content)
	return oid
}

func (r *Repository) add(oid refstore.OID, content []byte) {
	if r.objects == nil {
		r.objects = map[refstore.OID][]byte{}
	}
	r.objects[oid] = content
}

func (r *Repository) set(ref string, oid refstore.OID) {
	if r.refs == nil {
		r.refs = map[string]refstore.OID{}
	}
	if oid.IsZero() {
		delete(r.refs, ref)
		return
	}
	r.refs[ref] = oid
}

type transport struct {
	r      *Repository
	mu     sync.Mutex
	closed bool
	skew   time.Duration
	dated  bool
}

// begin fails for a client that is closed or whose time is up, and compares the clocks.
func (t *transport) begin(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return &refstore.UnavailableError{URL: "memory", Trouble: refstore.TroubleLocal, Err: errors.New("closed")}
	}
	if err := ctx.Err(); err != nil {
		return &refstore.UnavailableError{URL: "memory", Trouble: refstore.TroubleDeadline, Err: err}
	}
	if t.r.Date != nil {
		now := time.Now
		if t.r.Now != nil {
			now = t.r.Now
		}
		t.skew, t.dated = t.r.Date().Sub(now()), true
	}
	return nil
}

func (t *transport) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	refs := map[string]refstore.OID{}
	for name, oid := range t.r.refs {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				refs[name] = oid
			}
		}
	}
	return refs, nil
}

func (t *transport) Commits(ctx context.Context, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	var objects []refstore.Object
	for _, oid := range wants {
		for range depth {
			content, ok := t.r.objects[oid]
			if !ok {
				break
			}
			objects = append(objects, refstore.Object{OID: oid, Content: content})
			c, err := refstore.DecodeCommit(refstore.SHA1, oid, content)
			if err != nil {
				break
			}
			oid = c.Parent
		}
	}
	return objects, nil
}

func (t *transport) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	report := &refstore.Report{Unpack: "ok", Refused: map[string]string{}}
	for i := range tx.Updates {
		if u := &tx.Updates[i]; t.r.refs[u.Ref] != u.Old {
			report.Refused[u.Ref] = "failed to update ref"
		}
	}
	if len(report.Refused) > 0 && !t.r.NotAtomic {
		for i := range tx.Updates {
			report.Refused[tx.Updates[i].Ref] = "atomic transaction failed"
		}
		return report, nil
	}
	if t.r.guards(tx, report) {
		return report, nil
	}
	for i := range tx.Updates {
		u := &tx.Updates[i]
		if _, refused := report.Refused[u.Ref]; refused {
			continue
		}
		if !u.New.IsZero() {
			t.r.add(u.New, u.Content(tx.Format))
		}
		t.r.set(u.Ref, u.New)
	}
	return report, nil
}

// guards says whether the guard refuses a transaction.
func (r *Repository) guards(tx *refstore.Tx, report *refstore.Report) bool {
	if r.Guard == nil || len(report.Refused) > 0 {
		return false
	}
	old, next := map[string]refstore.Ref{}, map[string]refstore.Ref{}
	for name, oid := range r.refs {
		old[name] = record(name, oid, r.objects[oid])
	}
	for i := range tx.Updates {
		u := &tx.Updates[i]
		next[u.Ref] = refstore.Ref{Name: u.Ref}
		if !u.New.IsZero() {
			next[u.Ref] = record(u.Ref, u.New, u.Content(tx.Format))
		}
	}
	err := r.Guard(old, next)
	if err == nil {
		return false
	}
	report.Words = err.Error()
	for i := range tx.Updates {
		report.Refused[tx.Updates[i].Ref] = "hook declined"
	}
	return true
}

func record(name string, oid refstore.OID, content []byte) refstore.Ref {
	c, err := refstore.DecodeCommit(refstore.SHA1, oid, content)
	if err != nil {
		c = refstore.Commit{OID: oid}
	}
	return refstore.Ref{Name: name, Commit: c, Err: err}
}

func (t *transport) Server() refstore.Server {
	return refstore.Server{Known: time.Unix(0, 0), Atomic: !t.r.NotAtomic, Format: refstore.SHA1, ReadV2: true, Agent: "memory"}
}

func (t *transport) Skew() (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skew, t.dated
}

func (t *transport) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return nil
}
