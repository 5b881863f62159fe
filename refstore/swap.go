package refstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
)

// swap is one call of Swap: what was sent so far, and what came of it.
type swap struct {
	*store
	tx   *Tx
	ours func(Ref) bool
	// doubt: a request was or may have been received, and no complete report of it came back.
	doubt bool
	// refusal is the last complete report that was not ok.
	refusal *Report
	// trouble is what went wrong last; nil after a refusal.
	trouble error
}

func (s *store) Swap(ctx context.Context, tx *Tx, ours func(Ref) bool) error {
	if ours == nil {
		ours = func(Ref) bool { return false }
	}
	w := &swap{store: s, tx: tx, ours: ours, doubt: tx.Doubt}
	for attempt := 1; ; attempt++ {
		done, err := w.attempt(ctx)
		if done {
			return err
		}
		if attempt >= s.attempts(w.trouble) || s.pause(ctx, attempt) != nil {
			return w.giveUp(ctx)
		}
	}
}

// attempt sends the request once, and reads what became of it. It is done when the outcome is known, or can't be by trying again.
func (w *swap) attempt(ctx context.Context) (done bool, err error) {
	report, err := w.push(ctx)
	if err == nil && report.OK() {
		w.Landed(w.tx)
		return true, nil
	}
	var tips map[string]OID
	switch {
	case err != nil && !sent(err):
		w.trouble = err
		if passing(err) && ctx.Err() == nil {
			return false, nil
		}
		if w.doubt {
			err = &UndecidedError{Err: err}
		}
		return true, err
	case err != nil:
		w.trouble, w.doubt = err, true
	case report.Stale:
		tips = report.Advertised
	default:
		w.refusal, w.trouble = report, nil
		if applied := w.applied(report); len(applied) > 0 {
			w.partial.Store(true)
			return true, &HalfAppliedError{Applied: applied}
		}
	}
	return w.settle(ctx, tips)
}

// push sends the request, and counts it unless it certainly was not sent.
func (w *swap) push(ctx context.Context) (*Report, error) {
	report, err := w.t.Push(ctx, w.tx)
	if err == nil && !report.Stale || err != nil && sent(err) {
		w.o.Pushed()
	}
	return report, err
}

// settle reads the tips, unless it is given them, and concludes what it can.
func (w *swap) settle(ctx context.Context, tips map[string]OID) (done bool, err error) {
	state, refs, err := w.judge(ctx, w.tx, w.ours, tips, w.doubt)
	if err != nil {
		var half *HalfAppliedError
		if errors.As(err, &half) {
			return true, err
		}
		if w.doubt || w.refusal != nil {
			err = &UndecidedError{Err: err}
		}
		return true, err
	}
	switch state {
	case Landed:
		w.Landed(w.tx)
		return true, nil
	case Dead, Overtaken:
		return true, &ConflictError{Refs: refs, Overtaken: state == Overtaken}
	default:
		return false, nil
	}
}

// errNoProgress is a server that advertises, each time, what its refs do not hold when they are read.
var errNoProgress = errors.New("the refs as advertised contradict the refs as read")

// giveUp says what is known when no further request will be sent. In doubt it is never that nothing was changed.
func (w *swap) giveUp(ctx context.Context) error {
	var err error
	switch {
	case w.refusal != nil:
		err = w.refused()
	case w.trouble != nil:
		err = w.trouble
	case ctx.Err() != nil:
		err = &UnavailableError{Trouble: TroubleDeadline, Err: context.Cause(ctx)}
	default:
		err = &UnavailableError{Trouble: TroubleGarbage, Err: errNoProgress}
	}
	if w.doubt {
		return &UndecidedError{Err: err}
	}
	return err
}

func (w *swap) refused() error {
	reasons, words := w.refusal.Refused, w.refusal.Words
	if words == "" && w.refusal.Unpack != "ok" {
		words = "unpack: " + w.refusal.Unpack
	}
	return &RefusedError{Reasons: reasons, Words: words}
}

// applied lists the refs that a report which refuses others calls done.
func (w *swap) applied(r *Report) []string {
	if r.Unpack != "ok" || len(r.Refused) == len(w.tx.Updates) {
		return nil
	}
	var applied []string
	for _, u := range w.tx.Updates {
		if _, refused := r.Refused[u.Ref]; !refused {
			applied = append(applied, u.Ref)
		}
	}
	return applied
}

// Landed caches the records of tx.
func (s *store) Landed(tx *Tx) {
	var objects []Object
	for i := range tx.Updates {
		if u := &tx.Updates[i]; !u.New.IsZero() {
			objects = append(objects, Object{OID: u.New, Content: u.Content(tx.Format)})
		}
	}
	s.o.Cache.put(objects)
}

// sent says whether the server may have received a request that failed with err.
func sent(err error) bool {
	var u *UnavailableError
	if errors.As(err, &u) {
		return u.Sent
	}
	return !errors.Is(err, ErrUnsupported)
}

func (s *store) Settle(ctx context.Context, tx *Tx, ours func(Ref) bool) (State, []Ref, error) {
	if ours == nil {
		ours = func(Ref) bool { return false }
	}
	return s.judge(ctx, tx, ours, nil, true)
}

// judge tells from the tips (read, where none are given) how tx stands. A view in which a part of tx is done and another is not is read
// again: it may have been read while the server moved the refs. unseen says that tx may have landed without a report.
func (s *store) judge(ctx context.Context, tx *Tx, ours func(Ref) bool, tips map[string]OID, unseen bool) (State, []Ref, error) {
	for reread := 0; ; reread++ {
		refs, err := s.tipsOf(ctx, tx, tips)
		if err != nil {
			return Open, nil, err
		}
		if i := slices.IndexFunc(refs, func(r Ref) bool { return r.Commit.OID == Unreadable }); i >= 0 {
			return Open, nil, &UnavailableError{Trouble: TroubleGarbage, Err: fmt.Errorf("%s: %w", refs[i].Name, ErrUnreadable)}
		}
		v, err := s.view(ctx, tx, ours, refs, unseen)
		if err != nil {
			return Open, nil, err
		}
		switch torn := len(v.done) > 0 && v.open > 0; {
		case !torn:
			return v.state(), refs, nil
		case reread == rereads:
			return Open, refs, &HalfAppliedError{Applied: v.done}
		}
		tips = nil
	}
}

// view counts the refs of a transaction by how they stand.
type view struct {
	done            []string
	open, overtaken int
	dead            int
}

func (v *view) state() State {
	switch {
	case v.overtaken > 0, len(v.done) > 0 && v.dead > 0:
		return Overtaken
	case v.dead > 0:
		return Dead
	case len(v.done) > 0:
		return Landed
	default:
		return Open
	}
}

func (s *store) view(ctx context.Context, tx *Tx, ours func(Ref) bool, refs []Ref, unseen bool) (*view, error) {
	v := &view{}
	for i := range tx.Updates {
		u := &tx.Updates[i]
		ref := find(refs, u.Ref)
		switch {
		case ref.Commit.OID == u.New:
			v.done = append(v.done, u.Ref)
		case ref.Commit.OID == u.Old:
			v.open++
		case ref.Err == nil && !ref.Commit.OID.IsZero() && ours(ref):
			v.done = append(v.done, u.Ref)
		default:
			overtaken, err := s.builtUpon(ctx, ref, u.New, unseen)
			if err != nil {
				return nil, err
			}
			if overtaken {
				v.overtaken++
			} else {
				v.dead++
			}
		}
	}
	return v, nil
}

// historyDepth bounds how far back a change that landed unseen is looked for below the tip.
const historyDepth = 64

// builtUpon says whether the tip was built upon oid. Where tx may have landed unseen, the history is read; otherwise the parent tells enough.
func (s *store) builtUpon(ctx context.Context, tip Ref, oid OID, unseen bool) (bool, error) {
	switch {
	case oid.IsZero() || tip.Commit.OID.IsZero():
		return false, nil
	case tip.Commit.Parent == oid:
		return true, nil
	case !unseen || tip.Commit.Parent.IsZero():
		return false, nil
	}
	chain, err := s.Log(ctx, tip.Commit.OID, historyDepth)
	return slices.ContainsFunc(chain, func(c Commit) bool { return c.OID == oid || c.Parent == oid }), err
}

// tipsOf reads the refs of tx, with absent ones left out. The listing is spared where all are in known, which receive-pack has advertised: it shows none
// that it can't read, so one that is not there may not be absent.
func (s *store) tipsOf(ctx context.Context, tx *Tx, known map[string]OID) ([]Ref, error) {
	names := tx.refs()
	tips := make(map[string]OID, len(names))
	for _, name := range names {
		if oid, ok := known[name]; ok {
			tips[name] = oid
		}
	}
	if len(tips) < len(names) {
		return s.List(ctx, names...)
	}
	refs, missing, err := s.records(ctx, tips)
	if err == nil && missing {
		return s.List(ctx, names...)
	}
	return refs, err
}

// find is the ref of that name, or one that stands for an absent ref.
func find(refs []Ref, name string) Ref {
	i := sort.Search(len(refs), func(i int) bool { return refs[i].Name >= name })
	if i < len(refs) && refs[i].Name == name {
		return refs[i]
	}
	return Ref{Name: name}
}
