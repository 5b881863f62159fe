package gitwire

import (
	"context"
	"errors"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Blind says whether what is known of a server lets a push of so many refs be sent without its advertisement.
func Blind(s refstore.Server, refs int) bool {
	return !s.Known.IsZero() && s.Format != refstore.SHA256 && (refs < 2 || s.Atomic)
}

// Learned is s with what an advertisement of receive-pack, read at now, says.
func (a *Advert) Learned(s refstore.Server, now time.Time) refstore.Server {
	s.Known, s.Atomic, s.Format, s.Agent = now, a.Atomic, a.Format, a.Agent
	return s
}

// Unfit says, for a server's advertisement of receive-pack, what it lacks for tx: an [*refstore.UnsupportedError] or nil.
func (a *Advert) Unfit(url string, tx *refstore.Tx) error {
	if err := OnlySHA1(url, a.Format); err != nil {
		return err
	}
	if err := OnlySHA1(url, tx.Format); err != nil {
		return err
	}
	if len(tx.Updates) > 1 && !a.Atomic {
		return &refstore.UnsupportedError{URL: url, Feature: refstore.FeatureAtomic}
	}
	return nil
}

// OnlySHA1 is an [*refstore.UnsupportedError] for a repository of another format, else nil.
func OnlySHA1(url string, f refstore.Format) error {
	if f == refstore.SHA1 || f == "" {
		return nil
	}
	return &refstore.UnsupportedError{URL: url, Feature: refstore.FeatureFormat, Detail: string(f)}
}

// Trouble sorts what went wrong in an exchange under ctx. What is neither the deadline's nor the protocol's fault is the network's.
func Trouble(ctx context.Context, err error) refstore.Trouble {
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return refstore.TroubleDeadline
	case errors.Is(err, ErrMalformed), errors.Is(err, ErrTooLarge):
		return refstore.TroubleGarbage
	case errors.Is(err, ErrRemote):
		return refstore.TroubleDenied
	default:
		return refstore.TroubleNetwork
	}
}
