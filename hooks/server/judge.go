package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// Push is what is judged: by whom, when, and for which repository.
type Push struct {
	// Git runs git in the repository, with the environment of the hook.
	Git *gitexec.Git
	// Dir is the git directory.
	Dir string
	// Locked says that git has locked the refs, as in reference-transaction.
	Locked   bool
	Settings Settings
	// User is who pushes; "" where nobody knows.
	User string
	// Now is the server's clock.
	Now time.Time
	// Version is this program's, which policies may have a word about.
	Version string
}

// Verdict is what comes of judging a push.
type Verdict struct {
	// Refusals are why it is refused; none: it is not.
	Refusals []Refusal
	// Warnings are of what a policy warns of alone.
	Warnings []Refusal
	// Fenced are the branches that pass because of the claims that the same push renews, and that was put together by hand. Without --atomic they would not.
	Fenced []string
}

// Refusal is why a ref may not change.
type Refusal struct {
	Ref string
	Err error
	// Hint says what to do next; "" where there is nothing to say.
	Hint string
}

// judge is the judging of one push.
type judge struct {
	*Push
	ctx     context.Context //nolint:containedctx // of the one call
	objects *objects
	verdict *Verdict
	// tips is what stands at the refs that the push changes, and at those that it is judged by.
	tips map[string]refstore.OID
	// head is the default branch, or HEAD where that is no branch.
	head string
	// held are the resources whose claims the push renews or makes.
	held []lease.Resource
	// byHand says that one of them was not made for a push of code, as `git worklease push` makes it, which is always atomic.
	byHand bool
}

// errSymbolic is a ref of ours that is to point to another.
var errSymbolic = errors.New("a ref of claims can't be symbolic")

// Judge judges the lines that git gives to pre-receive and to reference-transaction. The error is that it can't be told, and then the push is to be refused
// as well.
func (p *Push) Judge(ctx context.Context, lines []byte) (*Verdict, error) {
	updates, format, err := readUpdates(strings.NewReader(string(lines)))
	if err != nil {
		return nil, err
	}
	j := &judge{Push: p, ctx: ctx, verdict: &Verdict{}}
	if p.Locked {
		if updates, err = j.withoutPruned(updates); err != nil {
			return nil, err
		}
	}
	ours, branches := j.sort(updates)
	if len(ours)+len(branches) == 0 {
		return j.verdict, nil
	}
	if j.objects, err = openObjects(ctx, p.Git, format); err != nil {
		return nil, err
	}
	if err = j.readTips(ours, branches); err == nil {
		err = j.judgeClaims(ours)
	}
	if err == nil {
		err = j.judgeBranches(branches)
	}
	if closeErr := j.objects.close(); err == nil && closeErr != nil {
		err = fmt.Errorf("git cat-file: %w", closeErr)
	}
	return j.verdict, err
}

// sort takes out what concerns us: the refs below our prefix, and branches.
func (j *judge) sort(updates []update) (ours, branches []update) {
	for _, u := range updates {
		switch {
		case strings.HasPrefix(u.ref+"/", j.Settings.Prefix) && u.symbolic:
			j.refuse(u.ref, errSymbolic, "")
		case strings.HasPrefix(u.ref+"/", j.Settings.Prefix):
			ours = append(ours, u)
		case strings.HasPrefix(u.ref, heads) && !u.symbolic:
			branches = append(branches, u)
		}
	}
	return ours, branches
}

func (j *judge) refuse(ref string, err error, hint string) {
	j.verdict.Refusals = append(j.verdict.Refusals, Refusal{Ref: ref, Err: err, Hint: hint})
}

// judgeClaims judges what a push changes below the prefix.
func (j *judge) judgeClaims(updates []update) error {
	tx := &lease.Transaction{
		Prefix: j.Settings.Prefix, Force: j.Settings.mayForce(j.User), Standing: j.standing, Below: j.below,
	}
	if len(updates) == 0 {
		return nil
	}
	var err error
	if tx.Meta, err = j.standsAt(j.meta()); err != nil {
		return err
	}
	for _, u := range updates {
		s := lease.RefStep{Ref: u.ref}
		if s.Old, err = j.standsAt(u.ref); err != nil {
			return err
		}
		s.New = refstore.Ref{Name: u.ref}
		if !u.next.IsZero() {
			if s.New, err = j.objects.record(u.ref, string(u.next)); err != nil {
				return err
			}
		}
		if s.New.Commit.OID != s.Old.Commit.OID { // git packs refs by such
			tx.Steps = append(tx.Steps, s)
		}
	}
	j.judgeSteps(tx)
	return nil
}

func (j *judge) judgeSteps(tx *lease.Transaction) {
	for i, judged := range tx.Judge(j.Now) {
		s, rec, err := &tx.Steps[i], judged.Next, judged.Err
		switch {
		case err != nil:
		case rec != nil && !rec.Released() && !j.Settings.may(j.User, rec.Resource):
			err = fmt.Errorf("%s: %w", rec.Resource, &UserError{User: j.User})
		case rec == nil && !j.claimOrMeta(s.Ref):
			err = j.judgeOther(s)
		}
		if err != nil {
			j.refuse(s.Ref, err, hintFor(err))
		} else if rec != nil && !rec.Released() {
			j.held = append(j.held, rec.Resource)
			j.byHand = j.byHand || rec.Push == ""
		}
	}
}

func (j *judge) claimOrMeta(ref string) bool {
	return ref == j.meta() || strings.HasPrefix(ref, j.Settings.Prefix+"claims/")
}

// standing reads all claims that stand.
func (j *judge) standing() (highest lease.Generation, authority string, err error) {
	tips, err := readTips(j.ctx, j.Git, j.Settings.Prefix+"claims/")
	if err != nil {
		return 0, "", err
	}
	for name, tip := range tips {
		ref, err := j.objects.record(name, string(tip))
		if err != nil {
			return 0, "", err
		}
		if rec, err := lease.ReadRecord(j.Settings.Prefix, name, ref.Commit); ref.Err == nil && err == nil {
			highest, authority = max(highest, rec.Generation), rec.Authority
		}
	}
	return highest, authority, nil
}

// mostBelow bounds how far back a chain is read.
const mostBelow = 1 << 16

// below is the highest generation that there may have been in a chain whose tip can't be read: that of the records that can be, and one more for each that
// can't above them.
func (j *judge) below(tip refstore.OID) (lease.Generation, error) {
	var above, highest lease.Generation
	for n := 0; n < mostBelow && !tip.IsZero(); n++ {
		ref, err := j.objects.record("", string(tip))
		if err != nil {
			return 0, err
		}
		rec, err := lease.DecodeRecord(ref.Commit)
		if ref.Err == nil && err == nil && lease.CheckCommit(ref.Commit) == nil {
			highest = max(highest, rec.Generation+above)
		} else if highest == 0 {
			above++
		}
		tip = ref.Commit.Parent
	}
	return max(highest, above), nil
}
