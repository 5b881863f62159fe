package main

import (
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// lastKnownJSON is what a session remembers of a claim. It proves nothing.
type lastKnownJSON struct {
	Resource   lease.Resource   `json:"resource"`
	Claim      lease.ClaimID    `json:"claim"`
	Generation lease.Generation `json:"generation"`
	RenewedAt  time.Time        `json:"renewed_at"`
	// ExpiresAt is by this machine's clocks alone, whichever ends the claim first.
	ExpiresAt time.Time `json:"expires_at"`
	LeftSecs  int64     `json:"time_left_seconds"`
}

func lastKnown(holds []lease.Hold, resources []lease.Resource, a *app) []lastKnownJSON {
	known := []lastKnownJSON{}
	now, at := a.clock.Now(), a.clock.Instant()
	for _, h := range holds {
		if h.End != nil {
			continue
		}
		left := h.Left(now, at)
		for _, m := range h.Members {
			if len(resources) > 0 && !slices.Contains(resources, m.Resource) {
				continue
			}
			known = append(known, lastKnownJSON{
				Resource: m.Resource, Claim: h.Claim, Generation: m.Generation, RenewedAt: h.RenewedAt,
				ExpiresAt: now.Add(left).UTC().Truncate(time.Second), LeftSecs: int64(left.Seconds()),
			})
		}
	}
	return known
}
