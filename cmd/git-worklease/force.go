package main

import (
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

func (o *releaseOptions) checkForce() error {
	switch {
	case len(o.keys) == 0:
		return &fault.UsageError{Message: "--force: no key given", Hint: "name each resource that is to be freed"}
	case o.reason == "":
		return &fault.UsageError{Message: "--force: no reason given", Hint: "say why with -m, for the holder and everybody else to read"}
	}
	return nil
}

// mayForce refuses agents, unless the setting lets them.
func (w *work) mayForce(resources []lease.Resource) error {
	if w.identity.Runtime == "" || w.settings.Force.V == config.ForceAgents {
		return nil
	}
	e := &fault.ForcePersonError{Resource: resources[0], Runtime: w.identity.Runtime}
	views, err := w.lease.Status(w.ctx, resources[0])
	if err == nil && (views[0].State == lease.StandingHeld || views[0].State == lease.StandingReserved) {
		e.Holder = &views[0].Record.Holder
	}
	return e
}

// forcedJSON is what came of one resource.
type forcedJSON struct {
	Resource   lease.Resource   `json:"resource"`
	OK         bool             `json:"ok"`
	Generation lease.Generation `json:"generation,omitempty"`
	// Displaced is who had it, or who kept it for ReservedFor.
	Displaced   *lease.Holder `json:"displaced,omitempty"`
	Claim       lease.ClaimID `json:"displaced_claim,omitempty"`
	ReservedFor string        `json:"reserved_for,omitempty"`
	By          *lease.Holder `json:"by,omitempty"`
	Reason      string        `json:"reason,omitempty"`
	Error       *failure      `json:"error,omitempty"`
}

func (a *app) newForcedJSON(r *lease.ForceResult) forcedJSON {
	j := forcedJSON{Resource: r.Resource, OK: r.Err == nil}
	if was := r.Displaced; was != nil {
		j.Generation, j.Displaced, j.Claim = was.Generation, &was.Holder, was.Claim
		if was.Released() {
			j.ReservedFor = was.Release.ReservedFor
		}
	}
	if r.Record != nil {
		j.By, j.Reason = r.Record.Release.By, r.Record.Release.Reason
	}
	if r.Err != nil {
		j.Error = a.explain(r.Err)
	}
	return j
}

// forceRelease ends claims of others.
func (a *app) forceRelease(w *work, resources []lease.Resource, reason string) (*outcome, error) {
	if err := w.mayForce(resources); err != nil {
		return nil, err
	}
	results, err := w.lease.Force(w.ctx, lease.ForceRequest{Resources: resources, Reason: reason})
	if len(results) == 0 {
		return nil, err
	}
	js := make([]forcedJSON, len(results))
	for i := range results {
		js[i] = a.newForcedJSON(&results[i])
	}
	return &outcome{result: js, failure: err, text: func(p *printer) { printForced(p, results) }}, nil
}

func printForced(p *printer, results []lease.ForceResult) {
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		was := r.Displaced
		p.printf("%s %s · generation %d", p.palette.Paint(term.Warn, "released by force"), term.Clean(string(r.Resource)), was.Generation)
		if was.Released() {
			p.printf(" · it was reserved for %s by %s\n", term.Clean(was.Release.ReservedFor), fault.Holder(was.Holder))
			continue
		}
		p.printf(" · it was held by %s, last heard of %s\n", fault.Holder(was.Holder), p.ago(was.RenewedAt))
	}
}
