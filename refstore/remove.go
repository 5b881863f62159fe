package refstore

import (
	"context"
	"time"
)

// Remove deletes refs as they were read, in as few requests as will do. The error at each place is what Swap promises for the deletion of the ref there:
// nil where the ref is gone, [ErrConflict] where it holds something else by now. A delete is an exact swap only where the server still has the
// old object, so that the refs must have been read just before.
func Remove(ctx context.Context, s Store, when time.Time, refs ...Ref) []error {
	txs := make([]*Tx, len(refs))
	for i, ref := range refs {
		tx, err := s.Build(Change{Ref: ref.Name, Old: ref.Commit.OID, When: when})
		if err != nil { // none of them can have been listed
			return same(err, len(refs))
		}
		txs[i] = tx
	}
	if len(txs) == 0 {
		return nil
	}
	return Together(ctx, s, txs...)
}

func same(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}
