package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

func tellUsage(f *Fault, err error, _ Scene) {
	var e *UsageError
	if errors.As(err, &e) && e.Hint != "" {
		f.Hint = e.Hint
	}
}

// tellConfig sends nobody to `config show` for a policy file that can't be read: it can't either.
func tellConfig(f *Fault, err error, _ Scene) {
	var e *config.Error
	if errors.As(err, &e) && e.Origin.Source == config.SourcePolicy {
		f.Hint = "correct that line of the policy file"
	}
}

// heldDetails are what a program needs to know of a refusal. Keys are never among them.
type heldDetails struct {
	Resource   lease.Resource   `json:"resource"`
	Holder     lease.Holder     `json:"holder"`
	Claim      lease.ClaimID    `json:"claim"`
	Generation lease.Generation `json:"generation"`
	Purpose    string           `json:"purpose,omitempty"`
	Liveness   lease.Liveness   `json:"liveness,omitempty"`
	Until      string           `json:"expires_at,omitempty"`
	TakeableAt string           `json:"takeable_at,omitempty"`
	LeftSecs   int64            `json:"time_left_seconds"`
	Reserved   string           `json:"reserved_for,omitempty"`
	Wanted     lease.Resource   `json:"wanted,omitempty"`
	Pool       lease.Resource   `json:"pool,omitempty"`
	Slots      int              `json:"slots,omitempty"`
}

func tellHeld(f *Fault, err error, s Scene) {
	var e *lease.HeldError
	if !errors.As(err, &e) || e.Record == nil {
		return
	}
	r := e.Record
	d := heldDetails{
		Resource: e.Resource, Holder: r.Holder, Claim: r.Claim, Generation: r.Generation, Purpose: r.Purpose, Liveness: e.Liveness,
		Until: stamp(e.Until), TakeableAt: stamp(e.TakeableAt), LeftSecs: int64(e.Until.Sub(s.Now).Seconds()),
		Wanted: e.Wanted, Pool: e.Pool, Slots: e.Slots,
	}
	name := overlapped(e)
	f.Hint = fmt.Sprintf("take other work, or look again with `git worklease status %s`", Quote(string(e.Resource)))
	if e.Reserved {
		d.Reserved = r.Release.ReservedFor
		f.Message = inPool(e, fmt.Sprintf("%s is reserved for %s for %s more", name, term.Clean(d.Reserved), term.Span(e.Until.Sub(s.Now))))
		f.Details = d
		return
	}
	f.Message = fmt.Sprintf("%s is held by %s", name, Holder(r.Holder))
	f.Message += kinship(r.Holder, s.Self)
	switch {
	case e.Until.IsZero():
	case e.Until.After(s.Now):
		f.Message += fmt.Sprintf(" for %s more", term.Span(e.Until.Sub(s.Now)))
	default:
		f.Message += fmt.Sprintf(", %s for %s", e.Liveness, term.Span(s.Now.Sub(e.Until)))
		if e.TakeableAt.After(s.Now) {
			f.Hint = fmt.Sprintf("it can be claimed in %s, unless its holder renews it", term.Span(e.TakeableAt.Sub(s.Now)))
		}
		if e.Liveness == lease.Stale && r.Holder.Agent == s.Self.Agent {
			f.Hint = fmt.Sprintf("if that was you, `git worklease claim --supersede %s` takes it over", Quote(string(e.Resource)))
		}
	}
	if s.Unnamed != nil {
		if from := s.Unnamed(r.Claim); from != "" {
			f.Hint = fmt.Sprintf("if that was you, before the session had a name, `git worklease release --session %s --to-session %s %s` hands it over",
				Quote(from), Quote(s.Self.Session), Quote(string(e.Resource)))
		}
	}
	if r.Purpose != "" {
		f.Message += ": " + term.Clean(r.Purpose)
	}
	f.Message, f.Details = inPool(e, f.Message), d
}

type ambiguousDetails struct {
	Resource lease.Resource `json:"resource"`
	Process  string         `json:"process,omitempty"`
	PID      int            `json:"pid"`
}

func tellAmbiguous(f *Fault, err error, _ Scene) {
	var e *session.AmbiguousError
	if !errors.As(err, &e) {
		return
	}
	f.Message = fmt.Sprintf("%s was claimed from this worktree by another process that is still there: %s (%d)",
		term.Clean(string(e.Resource)), term.Clean(e.By.Name), e.By.PID)
	f.Details = ambiguousDetails{Resource: e.Resource, Process: e.By.Name, PID: e.By.PID}
}

// Holder names a holder for people: who, and on which machine.
func Holder(h lease.Holder) string {
	name := term.Clean(h.String())
	if h.Host != "" {
		name += " on " + term.Clean(h.Host)
	}
	return name
}

type lostDetails struct {
	Resource lease.Resource `json:"resource"`
	By       *lease.Holder  `json:"by,omitempty"`
	Since    string         `json:"since,omitempty"`
	Why      string         `json:"why,omitempty"`
	Words    string         `json:"words,omitempty"`
}

func tellLost(f *Fault, err error, s Scene) {
	var e *lease.LostError
	if !errors.As(err, &e) {
		return
	}
	name := term.Clean(string(e.Resource))
	f.Message = fmt.Sprintf("the claim on %s was lost", name)
	if e.Reason != "" {
		f.Message += ": " + term.Clean(e.Reason)
	}
	if e.By != nil {
		f.Message += " by " + Holder(*e.By)
	}
	if !e.Since.IsZero() {
		f.Message += fmt.Sprintf(", %s ago", term.Span(s.Now.Sub(e.Since)))
	}
	if e.Words != "" {
		f.Message += ": " + term.Clean(e.Words)
	}
	f.Hint = lostHint(name, e.By)
	f.Details = lostDetails{Resource: e.Resource, By: e.By, Since: stamp(e.Since), Why: e.Reason, Words: e.Words}
}

type pendingDetails struct {
	Verb      lease.Verb       `json:"verb"`
	Session   string           `json:"session"`
	Resources []lease.Resource `json:"resources"`
	Busy      bool             `json:"busy,omitempty"`
}

func tellPending(f *Fault, err error, _ Scene) {
	var e *lease.PendingError
	if !errors.As(err, &e) {
		return
	}
	f.Message = fmt.Sprintf("the outcome of the %s of %s is unknown", verb(e.Verb), resources(e.Resources))
	if e.Busy {
		f.Message = fmt.Sprintf("another process of this clone is in the middle of a %s of %s", verb(e.Verb), resources(e.Resources))
	}
	if e.Err != nil {
		f.Message += ": " + cause(e.Err)
	}
	f.Details = pendingDetails{Verb: e.Verb, Session: e.Session, Resources: e.Resources, Busy: e.Busy}
}

// verb is a verb as a noun. It may have been read from a file.
func verb(v lease.Verb) string {
	if v == lease.VerbForce {
		return "forced release"
	}
	return term.Clean(string(v))
}

func resources(rs []lease.Resource) string {
	names := make([]string, len(rs))
	for i, r := range rs {
		names[i] = term.Clean(string(r))
	}
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("%d more", len(rs)-3))
	}
	return strings.Join(names, ", ")
}

// cause is the deepest error that still says what happened, in words that are safe to print.
func cause(err error) string {
	var u *refstore.UnavailableError
	if errors.As(err, &u) {
		return unavailable(u)
	}
	return term.Clean(err.Error())
}

func tellRefused(f *Fault, err error, _ Scene) {
	var e *refstore.RefusedError
	if !errors.As(err, &e) {
		return
	}
	f.Message = "the server refused the change"
	f.Lines = term.CleanLines(e.Said())
	f.Details = map[string]any{"server": f.Lines}
	if slices.ContainsFunc(f.Lines, isHint) { // who refuses knows best
		f.Hint = ""
	}
	tellEndRefused(f, err)
}

// isHint says whether a line of git's, of a hook's or of the server's says what to do next.
func isHint(line string) bool {
	return strings.HasPrefix(strings.TrimPrefix(line, "remote: "), "hint: ")
}

func tellScheme(f *Fault, err error, _ Scene) {
	var e *lease.SchemeError
	if !errors.As(err, &e) {
		return
	}
	if e.Scheme == "" && strings.Contains(e.Key, ":") {
		f.Message = fmt.Sprintf("%q is no key: before the colon goes a scheme of two or more lower-case letters, and a name after it", e.Key)
		f.Hint = "such as task:login"
		return
	}
	if e.Scheme == "" {
		f.Message = fmt.Sprintf("%q has no scheme, and no provider here knows what it means", e.Key)
		f.Hint = fmt.Sprintf("write the whole key, such as `%s`", Quote("task:"+e.Key))
		return
	}
	f.Message = fmt.Sprintf("%q is a URL, and no provider here knows what it means", e.Key)
	f.Hint = "write the resource's own key, such as task:login"
}

func tellUnavailable(f *Fault, err error, _ Scene) {
	var e *refstore.UnavailableError
	if !errors.As(err, &e) {
		return
	}
	f.Message = unavailable(e)
	f.Details = map[string]any{"url": e.URL, "trouble": e.Trouble}
}

// unavailable says what kept a remote from answering, in words for those that mean nothing to people.
func unavailable(e *refstore.UnavailableError) string {
	what := e.Err.Error()
	switch {
	case e.Trouble == refstore.TroubleDeadline:
		what = "no answer in time"
	case strings.HasSuffix(what, "EOF"), strings.Contains(what, "server closed idle connection"):
		what = "the connection was closed before the answer was complete"
	}
	if e.URL == "" {
		return term.Clean(what)
	}
	return term.Clean(e.URL + ": " + what)
}

// trouble narrows an unavailable remote down to one kind.
func trouble(kinds ...refstore.Trouble) func(error, Scene) bool {
	return func(err error, _ Scene) bool {
		var e *refstore.UnavailableError
		if !errors.As(err, &e) {
			return false
		}
		for _, k := range kinds {
			if e.Trouble == k {
				return true
			}
		}
		return false
	}
}

func writes(next func(error, Scene) bool) func(error, Scene) bool {
	return func(err error, s Scene) bool { return s.Writes && next(err, s) }
}

func lacksAtomic(err error, _ Scene) bool {
	var e *refstore.UnsupportedError
	return errors.As(err, &e) && e.Feature == refstore.FeatureAtomic
}

func isReserved(err error, _ Scene) bool {
	var e *lease.HeldError
	return errors.As(err, &e) && e.Reserved
}

// tellInterrupted says so where the run was ended while a change may have been under way.
func tellInterrupted(f *Fault, err error, _ Scene) {
	f.Message = "interrupted"
	var p *lease.PendingError
	if errors.As(err, &p) {
		f.Message = fmt.Sprintf("interrupted: the outcome of the %s of %s is unknown", verb(p.Verb), resources(p.Resources))
		f.Hint = "repeat the command: it settles what was left open"
	}
}
