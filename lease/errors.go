package lease

import (
	"errors"
	"fmt"
	"time"
)

// The conditions of this package. Errors of the store pass through, wrapped.
var (
	// ErrHeld: another holder has the resource. See [HeldError].
	ErrHeld = errors.New("held by another")
	// ErrLost: the claim is over, and not by its holder's release. See [LostError].
	ErrLost = errors.New("the claim was lost")
	// ErrExpired: the claim is this session's and nobody took it, but its time is up, so it proves nothing until it is renewed.
	ErrExpired = errors.New("the claim has expired")
	// ErrNotHeld: this session does not hold the resource.
	ErrNotHeld = errors.New("not held by this session")
	// ErrKeyLost: the record names this session as its holder, but the session has no key for it. Names never decide.
	ErrKeyLost = errors.New("the claim is in this session's name, but its key is lost")
	// ErrMixedBundle: a claim of resources of which the session holds some, but not all, or not by one claim.
	ErrMixedBundle = errors.New("some of the resources are held already, and not all by one claim")
	// ErrPending: an earlier or the present write has an unknown outcome. See [PendingError].
	ErrPending = errors.New("a write has an unknown outcome")
	// ErrRolledBack: a ref holds an earlier state than this clone has seen, so nothing can be concluded from it.
	ErrRolledBack = errors.New("the remote was rolled back")
	// ErrCorrupt: what stands at a ref is no valid record. It is never free, and never written over.
	ErrCorrupt = errors.New("corrupt record")
	// ErrNewer: the record is of a later version. It is never free, and never written over.
	ErrNewer = errors.New("record of a later version")
	// ErrWrongAuthority: the remote or a record is that of another authority. See [WrongAuthorityError].
	ErrWrongAuthority = errors.New("another authority")
	// ErrAuthorityGone: the authority is known, and its meta ref is gone or was rolled back, so nothing can be concluded.
	ErrAuthorityGone = errors.New("the authority is gone from the remote")
	// ErrHidden: the remote took a ref and does not show it, so nobody could tell who holds what. Nothing is claimed.
	ErrHidden = errors.New("the remote takes refs that it does not show")
	// ErrNoAuthority: the remote carries no authority, and this call may not create one.
	ErrNoAuthority = errors.New("the remote carries no authority")
	// ErrScheme: a key that is no resource as it stands. See [SchemeError].
	ErrScheme = errors.New("not a key that can be claimed as it stands")
	// ErrNotAtomic: the server can't change several refs at once, so it can't hold a claim on several resources. What was done in part was
	// withdrawn.
	ErrNotAtomic = errors.New("the server is not atomic over several refs")
	// ErrUnrepairable: what is damaged can't be repaired from here, because what that needs is not known.
	ErrUnrepairable = errors.New("can't be repaired from here")
	// ErrFree: nobody holds the resource, and it is kept for nobody.
	ErrFree = errors.New("nobody holds it")
	// ErrWhichClaim: a verb that acts on one claim, and the session holds several. See [WhichClaimError].
	ErrWhichClaim = errors.New("the session holds several claims")
	// ErrTimeUp: what was watched for did not happen in the time given.
	ErrTimeUp = errors.New("the time is up")
	// ErrBadRequest: a request outside of the limits.
	ErrBadRequest = errors.New("bad request")
)

// HeldError says who holds a resource, and until when at least.
type HeldError struct {
	Resource Resource
	// Wanted is the path that was wanted, where Resource is another that overlaps with it.
	Wanted Resource
	// Pool is set where no slot of a pool is free, of which it has Slots; Resource is then the one that comes free first.
	Pool  Resource
	Slots int
	// Record is what stands at the ref. Its holder may be named like this session, which makes it no less another's.
	Record   *Record
	Liveness Liveness
	// Reserved says that the resource is free but kept for another agent, Record.Release.ReservedFor, until Until.
	Reserved bool
	// Until is when the claim expires, and TakeableAt when it can be taken over unless it is renewed, both on this machine's clock. Where
	// the record is judged by observation, they count from when this clone first saw it.
	Until, TakeableAt time.Time
}

func (e *HeldError) Error() string {
	if e.Reserved {
		return fmt.Sprintf("%s: reserved for %s", e.Resource, e.Record.Release.ReservedFor)
	}
	return fmt.Sprintf("%s: %v: %s", e.Resource, ErrHeld, e.Record.Holder)
}

// Is links the type to [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// LostError says what became of a claim.
type LostError struct {
	// Resource is the one that shows it; with it the whole claim is lost.
	Resource Resource
	// By has the resource now, or ended the claim; nil where nobody is known.
	By *Holder
	// Since is the time of that, on the clock of whoever wrote it; zero where it is not known.
	Since time.Time
	// Reason is in words.
	Reason string
	// Words are what whoever ended it by force gave as the reason.
	Words string
}

func (e *LostError) Error() string {
	if e.By == nil {
		return fmt.Sprintf("%s: %v: %s", e.Resource, ErrLost, e.Reason)
	}
	return fmt.Sprintf("%s: %v: %s by %s", e.Resource, ErrLost, e.Reason, e.By)
}

// Is links the type to [ErrLost].
func (e *LostError) Is(target error) bool { return target == ErrLost }

// WhichClaimError names a resource of each claim that could be meant.
type WhichClaimError struct{ Resources []Resource }

func (e *WhichClaimError) Error() string { return fmt.Sprintf("%v: %q", ErrWhichClaim, e.Resources) }

// Is links the type to [ErrWhichClaim].
func (e *WhichClaimError) Is(target error) bool { return target == ErrWhichClaim }

// PendingError names the write whose outcome is unknown.
type PendingError struct {
	Verb      Verb
	Session   string
	Resources []Resource
	// Busy says that a living process of this clone is at it.
	Busy bool
	// Err is what kept it from being settled; nil where the server answered, and the write may land yet.
	Err error
}

func (e *PendingError) Error() string {
	first := Resource("")
	if len(e.Resources) > 0 {
		first = e.Resources[0]
	}
	if e.Err != nil {
		return fmt.Sprintf("%s %s: %v: %v", e.Verb, first, ErrPending, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.Verb, first, ErrPending)
}

// Is links the type to [ErrPending].
func (e *PendingError) Is(target error) bool { return target == ErrPending }

func (e *PendingError) Unwrap() error { return e.Err }

// WrongAuthorityError names the authority that was wanted and the one that was found, "" for none.
type WrongAuthorityError struct {
	// Resource is that of the record in question, "" where it is the remote.
	Resource  Resource
	Want, Got string
}

func (e *WrongAuthorityError) Error() string {
	got := e.Got
	if got == "" {
		got = "none"
	}
	if e.Resource != "" {
		return fmt.Sprintf("%s: %v: %s instead of %s", e.Resource, ErrWrongAuthority, got, e.Want)
	}
	return fmt.Sprintf("%v: %s instead of %s", ErrWrongAuthority, got, e.Want)
}

// Is links the type to [ErrWrongAuthority].
func (e *WrongAuthorityError) Is(target error) bool { return target == ErrWrongAuthority }

// SchemeError names a key and its scheme, "" where it has none, and then a provider would have to say what it means.
type SchemeError struct{ Key, Scheme string }

func (e *SchemeError) Error() string {
	if e.Scheme == "" {
		return fmt.Sprintf("%q: %v: no scheme", e.Key, ErrScheme)
	}
	return fmt.Sprintf("%q: %v: scheme %s", e.Key, ErrScheme, e.Scheme)
}

// Is links the type to [ErrScheme].
func (e *SchemeError) Is(target error) bool { return target == ErrScheme }
