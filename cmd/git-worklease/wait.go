package main

import (
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// claimOrWait claims at once, or as soon as that can be done within the given time, and shows meanwhile who is in the way. Only with a wait of 0 has
// w one deadline for all of it; otherwise it must have been opened by openLong.
func (a *app) claimOrWait(w *work, req lease.ClaimRequest, wait time.Duration) (*lease.ClaimResult, error) {
	if wait == 0 {
		return w.lease.Claim(w.ctx, req)
	}
	p := a.progress(w.ctx, w, wait)
	defer p.stop()
	return w.lease.Wait(w.ctx, lease.WaitRequest{Claim: req, For: wait, Tell: func(err error) {
		p.tell(p.obstacle("waiting for ", req.Resources, err))
	}})
}
