package coalesce

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestErrorsTravel: each error that a store promises arrives as the same type, with the same data and the same words.
func TestErrorsTravel(t *testing.T) {
	down := &refstore.UnavailableError{URL: "https://x", Trouble: refstore.TroubleBusy, Sent: true, Err: errors.New("429")}
	for name, err := range map[string]error{
		"nothing":            nil,
		"conflict":           &refstore.ConflictError{},
		"refused":            &refstore.RefusedError{Reasons: map[string]string{"refs/a": "no"}, Words: "not on Sundays\n"},
		"unavailable":        down,
		"undecided":          &refstore.UndecidedError{Err: down},
		"undecided, refused": &refstore.UndecidedError{Err: &refstore.RefusedError{Words: "locked"}},
		"unsupported":        &refstore.UnsupportedError{URL: "https://x", Feature: refstore.FeatureAtomic, Detail: "d"},
		"no record":          fmt.Errorf("refs/a: %w", refstore.ErrNotRecord),
		"unreadable":         fmt.Errorf("refs/a: %w", refstore.ErrUnreadable),
		"half applied":       &refstore.HalfAppliedError{Applied: []string{"refs/a", "refs/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := travel(t, err)
			if typed := !errors.Is(err, refstore.ErrNotRecord); fmt.Sprint(got) != fmt.Sprint(err) || typed && fmt.Sprintf("%T", got) != fmt.Sprintf("%T", err) {
				t.Errorf("%#v became %#v", err, got)
			}
			for _, target := range []error{
				refstore.ErrConflict, refstore.ErrRefused, refstore.ErrUnavailable, refstore.ErrUndecided, refstore.ErrUnsupported, refstore.ErrHalfApplied, refstore.ErrNotRecord,
				refstore.ErrUnreadable,
			} {
				if errors.Is(err, target) != errors.Is(got, target) {
					t.Errorf("%v: is %v: %t", got, target, errors.Is(got, target))
				}
			}
		})
	}
}

func travel(t *testing.T, err error) error {
	t.Helper()
	data, eerr := encodeErrors([]error{err, errors.New("another")})
	if eerr != nil {
		t.Fatal(eerr)
	}
	errs, derr := decodeErrors(data)
	if derr != nil || len(errs) != 2 || errs[1].Error() != "another" {
		t.Fatalf("%v, %v", errs, derr)
	}
	return errs[0]
}

// TestDataTravels: what lease looks at beyond the types.
func TestDataTravels(t *testing.T) {
	commit := refstore.Commit{OID: "11", Parent: "22", When: time.Unix(1_800_000_000, 0).UTC(), Message: []byte("x\xff\n")}
	inner := &refstore.ConflictError{Overtaken: true, Refs: []refstore.Ref{{Name: "refs/a", Err: refstore.ErrNotRecord}, {Name: "refs/b", Commit: commit}}}
	var moved *refstore.ConflictError
	if !errors.As(travel(t, inner), &moved) || !moved.Overtaken || len(moved.Refs) != 2 || !errors.Is(moved.Refs[0].Err, refstore.ErrNotRecord) ||
		!reflect.DeepEqual(moved.Refs[1].Commit, commit) {
		t.Errorf("%+v", moved)
	}
	var refused *refstore.RefusedError
	err := travel(t, &refstore.RefusedError{Reasons: map[string]string{"refs/a": "no"}, Words: "words"})
	if !errors.As(err, &refused) || refused.Reasons["refs/a"] != "no" || refused.Words != "words" {
		t.Errorf("%+v", refused)
	}
	var down *refstore.UnavailableError
	err = travel(t, &refstore.UndecidedError{Err: &refstore.UnavailableError{Trouble: refstore.TroubleDeadline, Sent: true, Err: context.Canceled}})
	if !errors.As(err, &down) || down.Trouble != refstore.TroubleDeadline || !down.Sent {
		t.Errorf("%+v", down)
	}
	if errors.Is(err, context.Canceled) {
		t.Error("the end of the sender's context became the receiver's")
	}
	if err := travel(t, &refstore.UndecidedError{}); !errors.Is(err, refstore.ErrUndecided) {
		t.Errorf("%v", err)
	}
	if err := travel(t, &refstore.UnavailableError{}); !errors.As(err, &down) || down.Err == nil {
		t.Errorf("unavailable without a cause: %#v", err)
	}
	if err := travel(t, context.DeadlineExceeded); errors.Is(err, context.DeadlineExceeded) {
		t.Error("the end of the sender's time became the receiver's")
	}
}
