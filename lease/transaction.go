package lease

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// RefStep is a change of one ref, as a server sees it before it makes it.
type RefStep struct {
	Ref string
	// Old is what stands there, and New what is to stand there, each with its Err where it is no record; a zero OID is an absent ref.
	Old, New refstore.Ref
}

// Transaction is what a push is to change of an authority's claims and of its record, all of it or none.
type Transaction struct {
	// Prefix is where the authority keeps its refs.
	Prefix string
	// Meta is what stands at the authority's own ref.
	Meta  refstore.Ref
	Steps []RefStep
	// Force says that whoever pushes may end the claims of others.
	Force bool
	// Tolerance is as in [TransitionRules].
	Tolerance time.Duration
	// Standing reads the claims that stand: the highest generation, and the authority that they are of, "" where there are none. It is called where
	// the authority's record changes.
	Standing func() (highest Generation, authority string, err error)
	// Below is the highest generation that there may have been below a record that can't be read.
	Below func(tip refstore.OID) (Generation, error)
}

// Judged is what was found of a step.
type Judged struct {
	// Next is the lease that it writes; nil where it writes none, or none that can be read.
	Next *Record
	// Err is nil where the step may be made; otherwise a [*BreachError], or why a record can't be read.
	Err error
}

// verdicts are the state of judging a transaction.
type verdicts struct {
	*Transaction
	at   time.Time
	errs []error
	// meta is the authority's record as the transaction leaves it; noMeta says why there is none.
	meta   *Meta
	noMeta error
	with   []*Record
	read   []stepRead
}

// stepRead is a step of a lease whose records were read.
type stepRead struct {
	old, next *Record
	corrupt   bool
}

// Judge says of each step whether the transaction may make it. at is the server's clock. Refs that are neither claims nor the authority's record are passed
// over.
func (t *Transaction) Judge(at time.Time) []Judged {
	v := &verdicts{Transaction: t, at: at, errs: make([]error, len(t.Steps)), read: make([]stepRead, len(t.Steps))}
	v.judgeMeta()
	for i := range t.Steps {
		if v.isClaim(i) {
			v.errs[i] = v.readStep(i)
		}
	}
	for i := range t.Steps {
		if v.isClaim(i) && v.errs[i] == nil {
			v.errs[i] = v.judgeStep(i)
		}
	}
	judged := make([]Judged, len(t.Steps))
	for i := range judged {
		judged[i] = Judged{v.read[i].next, v.errs[i]}
	}
	return judged
}

// Refusal joins what is wrong with the steps of a transaction; nil where all may be made.
func Refusal(judged []Judged) error {
	errs := make([]error, len(judged))
	for i := range judged {
		errs[i] = judged[i].Err
	}
	return errors.Join(errs...)
}

func (v *verdicts) isClaim(i int) bool {
	return strings.HasPrefix(v.Steps[i].Ref, refs{v.Prefix}.claims())
}

// judgeMeta finds the authority's record, and judges the step that changes it.
func (v *verdicts) judgeMeta() {
	v.meta, v.noMeta = readMeta(v.Meta)
	for i, s := range v.Steps {
		if s.Ref != (refs{v.Prefix}).meta() {
			continue
		}
		old, err := v.meta, v.noMeta
		if errors.Is(err, ErrNewer) {
			v.errs[i] = err
			return
		}
		next, nextErr := readMeta(s.New)
		switch {
		case !s.New.Commit.OID.IsZero() && nextErr != nil:
			v.errs[i] = nextErr
			return
		case s.New.Commit.OID.IsZero():
			next = nil
		}
		rules := MetaRules{Tip: s.Old.Commit.OID, Corrupt: errors.Is(err, ErrCorrupt), Tolerance: v.Tolerance}
		if rules.Highest, rules.Authority, err = v.Standing(); err == nil {
			err = MetaTransition(old, next, v.at, rules)
		}
		if v.errs[i] = err; err == nil {
			v.meta, v.noMeta = next, nil
		}
	}
}

// readMeta reads the authority's record at a ref, signature and all.
func readMeta(ref refstore.Ref) (*Meta, error) {
	switch {
	case ref.Commit.OID.IsZero():
		return nil, ErrNoAuthority
	case ref.Err != nil:
		return nil, fmt.Errorf("%w: meta: %w", ErrCorrupt, ref.Err)
	}
	if err := CheckCommit(ref.Commit); err != nil {
		return nil, fmt.Errorf("meta: %w", err)
	}
	return DecodeMeta(ref.Commit)
}

// readStep reads the records of a step. What stands there and can't be read may be repaired, unless it is of a later version.
func (v *verdicts) readStep(i int) (err error) {
	s, r := &v.Steps[i], &v.read[i]
	if !s.Old.Commit.OID.IsZero() {
		switch r.old, err = v.readRecord(s.Ref, s.Old); {
		case errors.Is(err, ErrNewer):
			return err
		case err != nil:
			r.old, r.corrupt = nil, true
		}
	}
	if s.New.Commit.OID.IsZero() {
		return nil
	}
	if r.next, err = v.readRecord(s.Ref, s.New); err != nil {
		return err
	}
	v.with = append(v.with, r.next)
	return nil
}

func (v *verdicts) readRecord(ref string, at refstore.Ref) (*Record, error) {
	if at.Err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, at.Err)
	}
	return ReadRecord(v.Prefix, ref, at.Commit)
}

func (v *verdicts) judgeStep(i int) error {
	if v.meta == nil {
		return v.noMeta
	}
	rules, r := v.meta.Rules(v.at), v.read[i]
	rules.Tip, rules.Corrupt, rules.With, rules.Force, rules.Tolerance = v.Steps[i].Old.Commit.OID, r.corrupt, v.with, v.Force, v.Tolerance
	if r.corrupt && r.next != nil {
		below, err := v.Below(rules.Tip)
		if err != nil {
			return err
		}
		rules.Floor, rules.Top = max(rules.Top, below), max(rules.Top, below)
	}
	return Transition(r.old, r.next, v.at, rules)
}
