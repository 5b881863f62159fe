package main

import (
	"context"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// claimOrWait claims at once, within ctx, or as soon as that can be done within the given time, and shows meanwhile who is in the way. A ctx with a
// deadline goes with a wait of 0 alone.
func (a *app) claimOrWait(ctx context.Context, w *work, req lease.ClaimRequest, wait time.Duration) (*lease.ClaimResult, error) {
	if wait == 0 {
		return w.lease.Claim(ctx, req)
	}
	p := a.progress(ctx, w, wait)
	defer p.stop()
	return w.lease.Wait(ctx, lease.WaitRequest{Claim: req, For: wait, Tell: func(err error) {
		p.tell(p.obstacle("waiting for ", req.Resources, err))
	}})
}
