package coalesce

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/lockfile"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// The files of a request, by the ends of their names.
const (
	locked = ".lock"
	posted = ".posted"
	taken  = ".taken"
	done   = ".done"
	unborn = ".tmp"
)

// request is what one process wants to swap.
type request struct {
	// Posted is when, by the clock that runs through suspend.
	Posted lease.Instant `json:"posted"`
	// Life is the age at which it must not be sent any more.
	Life time.Duration  `json:"life"`
	Txs  []*refstore.Tx `json:"txs"`

	store *Store
	id    string
	// doubt: an earlier sender had taken it, and died.
	doubt bool
	// errs is what came of it, where this process knows it; own says that this process posted it.
	errs   []error
	own    bool
	unlock func() error
}

// post writes a request and locks it.
func (s *Store) post(ctx context.Context, p refstore.Patience, txs []*refstore.Tx) (*request, error) {
	if err := os.MkdirAll(s.dir, dirMode); err != nil {
		return nil, err
	}
	id := make([]byte, 12)
	_, _ = rand.Read(id) // never fails
	r := &request{Posted: s.clock.Instant(), Life: min(p.Life, oldest), Txs: txs, store: s, id: hex.EncodeToString(id), own: true}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if r.unlock, err = lockfile.Lock(ctx, r.path(locked)); err != nil {
		return nil, err
	}
	if err := r.write(posted, data); err != nil {
		r.forget()
		return nil, err
	}
	return r, nil
}

func (r *request) path(end string) string { return r.store.path(r.id + end) }

// write makes a file of the request appear whole.
func (r *request) write(end string, data []byte) error {
	tmp := r.path(end + unborn)
	if err := os.WriteFile(tmp, data, fileMode); err != nil {
		return err
	}
	return os.Rename(tmp, r.path(end))
}

// forget removes all files of a request. Its lock goes last.
func (r *request) forget() {
	for _, end := range []string{posted, taken, done, posted + unborn, done + unborn, locked} {
		_ = os.Remove(r.path(end)) // what stays is swept away by the next sender
	}
	_ = r.unlock()
}

// abandoned says whether the process that posted the request is gone, and then removes what it left.
func (r *request) abandoned() bool {
	unlock, err := lockfile.TryLock(r.path(locked))
	if err != nil {
		return false
	}
	r.unlock = unlock
	r.forget()
	return true
}

// read reads what another process posted.
func (r *request) read() error {
	data, err := os.ReadFile(r.path(posted))
	if errors.Is(err, fs.ErrNotExist) {
		data, err = os.ReadFile(r.path(taken))
	}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	for _, tx := range r.Txs {
		if tx == nil || len(tx.Updates) == 0 {
			return fmt.Errorf("request %s: %w", r.id, fs.ErrInvalid)
		}
	}
	return err
}

// take makes the request this sender's. It can't where it was taken back.
func (r *request) take() bool {
	if os.Rename(r.path(posted), r.path(taken)) == nil {
		return true
	}
	_, err := os.Lstat(r.path(taken))
	r.doubt = err == nil
	return r.doubt
}

// withdraw takes the request back. It can't where a sender has taken it.
func (r *request) withdraw() bool { return os.Remove(r.path(posted)) == nil }

// transactions are what is sent.
func (r *request) transactions(doubt bool) []*refstore.Tx {
	txs := make([]*refstore.Tx, len(r.Txs))
	for i, tx := range r.Txs {
		again := *tx
		again.Doubt = tx.Doubt || doubt
		txs[i] = &again
	}
	return txs
}

// old says whether the request may not be sent any more.
func (r *request) old() bool {
	now := r.store.clock.Instant()
	return now.Boot != r.Posted.Boot || now.Since-r.Posted.Since > r.Life
}

// errTooOld is what is said of a request that was not sent in time.
var errTooOld = errors.New("it waited too long to be sent")

// expired is the answer to a request that is too old, in doubt where an earlier sender may have sent it.
func (r *request) expired(doubt bool) []error {
	err := error(&refstore.UnavailableError{Trouble: refstore.TroubleDeadline, Err: errTooOld})
	if doubt {
		err = &refstore.UndecidedError{Err: err}
	}
	errs := make([]error, len(r.Txs))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// finish leaves what came of a request to the process that posted it.
func (r *request) finish(errs []error) {
	if r.own {
		r.errs = errs
		return
	}
	data, err := encodeErrors(errs)
	if err == nil {
		_ = r.write(done, data) // without it, the process finds out by itself
	}
}

// result is what came of this process's own request; nil: that is not known yet.
func (r *request) result() []error {
	if r.errs != nil {
		return r.errs
	}
	data, err := os.ReadFile(r.path(done))
	if err != nil {
		return nil
	}
	errs, err := decodeErrors(data)
	if err != nil || len(errs) != len(r.Txs) {
		return nil
	}
	return errs
}

// answered says whether there is a result already.
func (r *request) answered() bool {
	_, err := os.Lstat(r.path(done))
	return err == nil
}

// ids are the requests in the folder, those included of which only litter is left.
func (s *Store) ids() []string {
	entries, _ := os.ReadDir(s.dir) // without it there is nobody
	var ids []string
	seen := map[string]bool{}
	for _, entry := range entries {
		id, end, ok := strings.Cut(entry.Name(), ".")
		if ok && end != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// count is how many requests are posted.
func (s *Store) count() int {
	entries, _ := os.ReadDir(s.dir) // as above
	n := 0
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), posted) {
			n++
		}
	}
	return n
}
