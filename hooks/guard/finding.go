package guard

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

// The answers of a guard other than yes. See [Error].
var (
	// ErrDenied: a claim is missing, or another has what is to be changed.
	ErrDenied = errors.New("the claims don't allow it")
	// ErrUnsure: it can't be told, because the remote, the policy or this clone's state can't be read.
	ErrUnsure = errors.New("it can't be told whether the claims allow it")
)

// Operation is what is judged.
type Operation string

// The operations.
const (
	OpCommit Operation = "commit"
	OpPush   Operation = "push"
)

// Kind tells findings apart.
type Kind string

// The kinds of findings.
const (
	KindNeed   Kind = "need"   // a claim that a rule asks for is missing
	KindLost   Kind = "lost"   // the claim that a rule asks for was lost, or its time is up: Err says so
	KindShort  Kind = "short"  // the claim is about to end: Left of it, and Wanted is asked for
	KindRival  Kind = "rival"  // another has claimed a path that is changed
	KindUnsure Kind = "unsure" // it can't be told: Err says why
)

// Finding is one reason against an operation.
type Finding struct {
	Kind Kind
	// Ref is the ref that is pushed, or the branch that is committed to, in full; "" where there is none.
	Ref string
	// Need is what a rule asks for; nil where no rule is the reason.
	Need *hooks.Need
	// Rival is who has it instead, where that is known.
	Rival *Rival
	// Paths are the changed paths that it is about.
	Paths        []string
	Resource     lease.Resource
	Left, Wanted time.Duration
	Err          error
}

// Rival is another's claim.
type Rival struct {
	Resource lease.Resource
	Holder   lease.Holder
	Purpose  string
	// Expires is when its time is up by this machine's clock.
	Expires time.Time
}

// Denies says whether the finding is one of which there is no doubt.
func (f *Finding) Denies() bool { return f.Kind != KindUnsure }

// Error is a guard's answer other than yes: an [ErrDenied] if one of the findings is sure, else an [ErrUnsure].
type Error struct {
	Operation Operation
	// Findings are never none; those without doubt come first.
	Findings []Finding
	// Runtime is the agent runtime whose override was not heeded; "" where there was none.
	Runtime string
}

func (e *Error) Error() string {
	if e.Findings[0].Err != nil {
		return fmt.Sprintf("%s: %v: %v", e.Operation, e.kind(), e.Findings[0].Err)
	}
	return fmt.Sprintf("%s: %v", e.Operation, e.kind())
}

func (e *Error) kind() error {
	if e.Findings[0].Denies() {
		return ErrDenied
	}
	return ErrUnsure
}

// Is links the type to [ErrDenied] and [ErrUnsure].
func (e *Error) Is(target error) bool { return target == e.kind() }

// Unwrap is the cause of the first finding.
func (e *Error) Unwrap() error { return e.Findings[0].Err }

// Verdict is what came of a judgement.
type Verdict struct {
	// Blocks and Warns are what refuses the operation, and what is only to be said; either may be nil.
	Blocks, Warns *Error
	// Override is the reason for which a person passes what Blocks or Warns says; "" for none.
	Override string
}

// verdict sorts findings by how the policy takes them. deny and unsure are the modes for each.
func (g *Guard) verdict(op Operation, findings []Finding, deny, unsure config.Mode) *Verdict {
	v := &Verdict{}
	slices.SortStableFunc(findings, func(a, b Finding) int { return doubt(a) - doubt(b) })
	for _, f := range findings {
		mode := deny
		if !f.Denies() {
			mode = unsure
		}
		switch mode {
		case config.ModeOff:
		case config.ModeWarn:
			v.Warns = v.Warns.with(op, f)
		default:
			v.Blocks = v.Blocks.with(op, f)
		}
	}
	g.heed(v)
	return v
}

func doubt(f Finding) int {
	if f.Denies() {
		return 0
	}
	return 1
}

func (e *Error) with(op Operation, f Finding) *Error {
	if e == nil {
		e = &Error{Operation: op}
	}
	e.Findings = append(e.Findings, f)
	return e
}

// heed takes an override into account, as far as whoever gives it may.
func (g *Guard) heed(v *Verdict) {
	if g.Override == "" || v.Blocks == nil && v.Warns == nil {
		return
	}
	if g.passes() {
		v.Override = g.Override
		return
	}
	for _, e := range []*Error{v.Blocks, v.Warns} {
		if e != nil {
			e.Runtime = g.Runtime
		}
	}
}

// passes says whether an override is given by somebody who may. Without the clone's state there is nowhere to keep it on record, nor is it known who asks.
func (g *Guard) passes() bool {
	return g.Override != "" && g.State != nil && (g.Runtime == "" || g.Law.Override == config.ForceAgents)
}
