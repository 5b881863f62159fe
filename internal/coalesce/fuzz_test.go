package coalesce

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// FuzzDecodeErrors: what another process answered can't be read, or is errors that can be told to people, and that travel further as they are.
func FuzzDecodeErrors(f *testing.F) {
	data, err := encodeErrors([]error{nil, &refstore.UndecidedError{}, &refstore.ConflictError{}, &refstore.RefusedError{Words: "no"}, refstore.ErrNotRecord})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`[{"undecided":{"unavailable":{"err":{}}}},{"unavailable":{}}]`))
	f.Add([]byte(`[{"conflict":{"refs":[{"name":"refs/a","err":{"half_applied":{}}}]}},null]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		errs, err := decodeErrors(data)
		if err != nil {
			return
		}
		again, err := encodeErrors(errs)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeErrors(again)
		if err != nil || len(back) != len(errs) {
			t.Fatalf("%s: %v", again, err)
		}
		for i := range errs {
			if (errs[i] == nil) != (back[i] == nil) {
				t.Fatalf("%v became %v", errs[i], back[i])
			}
			if errs[i] == nil {
				continue
			}
			is, was := fault.Explain(back[i], fault.Scene{Zone: time.UTC}), fault.Explain(errs[i], fault.Scene{Zone: time.UTC})
			if is.Reason != was.Reason || is.Message != was.Message {
				t.Errorf("%+v became %+v", was, is)
			}
		}
	})
}

// FuzzRequest: what another process posted can't be read, or can be sent, and posted again as it is.
func FuzzRequest(f *testing.F) {
	tx, err := refstore.BuildTx(refstore.SHA1, refstore.Change{Ref: "refs/x/a", Message: []byte("m"), When: time.Unix(1767323045, 0)})
	if err != nil {
		f.Fatal(err)
	}
	data, err := json.Marshal(&request{Posted: lease.Instant{Boot: "b", Since: 5}, Life: time.Second, Txs: []*refstore.Tx{tx}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"txs":[null]}`))
	f.Add([]byte(`{"posted":{"boot":"b"},"life":9223372036854775807,"txs":[{"updates":[{}]}]}`))
	s := New(nil, f.TempDir(), &lease.SystemClock{})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &request{store: s, id: "a"}
		if err := os.WriteFile(r.path(posted), data, fileMode); err != nil {
			t.Fatal(err)
		}
		if r.read() != nil {
			return
		}
		for i, tx := range r.transactions(true) {
			if !tx.Doubt || tx == r.Txs[i] || len(tx.Updates) == 0 {
				t.Errorf("%+v became %+v", r.Txs[i], tx)
			}
		}
		r.old()
		errs := r.expired(true)
		if len(errs) != len(r.Txs) {
			t.Errorf("%d answers to %d", len(errs), len(r.Txs))
		}
		for _, err := range errs {
			if !errors.Is(err, refstore.ErrUndecided) {
				t.Errorf("got %v", err)
			}
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.path(posted), again, fileMode); err != nil {
			t.Fatal(err)
		}
		back := &request{store: s, id: "a"}
		if err := back.read(); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if last, err := json.Marshal(back); err != nil || !bytes.Equal(last, again) {
			t.Errorf("%s became %s, %v", again, last, err)
		}
	})
}
