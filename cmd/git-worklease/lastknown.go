package main

import (
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// unknownJSON is a resource of which the remote said nothing.
type unknownJSON struct {
	Resource lease.Resource `json:"resource"`
	State    string         `json:"state"`
	// Known is what this session remembers of its claim. It proves nothing.
	Known *lastKnownJSON `json:"last_known,omitempty"`
}

type lastKnownJSON struct {
	Claim      lease.ClaimID    `json:"claim"`
	Generation lease.Generation `json:"generation"`
	RenewedAt  time.Time        `json:"renewed_at"`
	// ExpiresAt is by this machine's clocks alone, whichever ends the claim first.
	ExpiresAt time.Time `json:"expires_at"`
	LeftSecs  int64     `json:"time_left_seconds"`
}

// lastKnown is what a session remembers of resources; none given: of all that it holds.
func lastKnown(holds []lease.Hold, resources []lease.Resource, a *app) []unknownJSON {
	now, at := a.clock.Now(), a.clock.Instant()
	all := []unknownJSON{}
	for _, r := range resources {
		all = append(all, unknownJSON{Resource: r, State: "unknown"})
	}
	for _, h := range holds {
		if h.End != nil || h.Unconfirmed {
			continue
		}
		left := h.Left(now, at)
		for _, m := range h.Members {
			i := slices.IndexFunc(all, func(u unknownJSON) bool { return u.Resource == m.Resource })
			if i < 0 && len(resources) > 0 {
				continue
			}
			if i < 0 {
				i, all = len(all), append(all, unknownJSON{Resource: m.Resource, State: "unknown"})
			}
			all[i].Known = &lastKnownJSON{
				Claim: h.Claim, Generation: m.Generation, RenewedAt: h.RenewedAt, ExpiresAt: seconds(now.Add(left)), LeftSecs: int64(left.Seconds()),
			}
		}
	}
	return all
}

// seconds is a time as programs get it where it is a point on somebody's clock and not a stamp of a record.
func seconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func printLastKnown(p *printer, u unknownJSON) {
	p.printf("unknown %s · generation %d · by this clock ", term.Clean(string(u.Resource)), u.Known.Generation)
	if u.Known.LeftSecs > 0 {
		p.printf("yours until %s\n", p.at(u.Known.ExpiresAt))
	} else {
		p.printf("expired %s\n", p.ago(u.Known.ExpiresAt))
	}
}
