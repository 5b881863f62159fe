package main

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/lease"
)

// hold makes sure that the claims are held which the command is to run under.
func (x *execution) hold(ctx context.Context) error {
	if len(x.o.keys) > 0 {
		return x.claim(ctx)
	}
	return x.verify(ctx)
}

// claim takes what is asked for.
func (x *execution) claim(ctx context.Context) error {
	resources, err := x.work.resources(x.o.keys)
	if err != nil {
		return err
	}
	meta, err := parseMeta(x.o.meta)
	if err != nil {
		return err
	}
	if err := x.work.checkClaimant(resources); err != nil {
		return err
	}
	req := lease.ClaimRequest{Resources: resources, Purpose: x.o.purpose, Meta: meta}
	if !x.work.settings.TTL.Origin.IsDefault() {
		req.TTL = x.work.settings.TTL.V
	}
	if x.o.wait == 0 {
		limited, cancel := x.work.attempt(ctx)
		defer cancel()
		ctx = limited
	}
	result, err := x.claimOrWait(ctx, x.work, req, x.o.wait)
	if err != nil {
		return err
	}
	if err := x.work.checkResult(result); err != nil {
		return err
	}
	x.holds, x.made = []lease.Hold{result.Hold}, result.Outcome == lease.Claimed
	x.introduce(result.Predecessors)
	return nil
}

// introduce shows what earlier holders left.
func (x *execution) introduce(predecessors []*lease.Record) {
	if x.flags.json {
		return
	}
	p := x.printer()
	for _, pre := range predecessors {
		printPredecessor(p, pre)
	}
	_, _ = x.err.Write(p.buffer.Bytes()) // nobody who listens
}

// verify proves that all claims of the session stand, and renews those of which a keeper would do so at once. An expired one is not renewed.
func (x *execution) verify(ctx context.Context) error {
	ctx, cancel := x.work.attempt(ctx)
	defer cancel()
	own, err := x.work.acting(nil)
	if err != nil {
		return err
	}
	results, err := x.work.lease.Verify(ctx, own...)
	if err != nil || len(results) == 0 {
		return nothingHeld(err)
	}
	var due []lease.Resource
	for _, r := range results {
		if slices.ContainsFunc(x.holds, func(h lease.Hold) bool { return h.Claim == r.Hold.Claim }) {
			continue
		}
		x.holds = append(x.holds, r.Hold)
		if r.Left <= r.Hold.TTL-r.Hold.TTL/3 {
			due = append(due, r.Resource)
		}
	}
	if len(due) == 0 {
		return nil
	}
	_, err = x.work.lease.Renew(ctx, lease.RenewRequest{Resources: due})
	return err
}

// heldJSON is a claim as the command is told of it.
type heldJSON struct {
	Claim     lease.ClaimID `json:"claim"`
	Resources []memberJSON  `json:"resources"`
}

func (x *execution) heldJSON() []heldJSON {
	held := make([]heldJSON, len(x.holds))
	for i, h := range x.holds {
		held[i] = heldJSON{Claim: h.Claim, Resources: members(h.Members)}
	}
	return held
}

// environment is the command's: ours, and what it runs under. What an outer exec has set there is gone.
func (x *execution) environment() []string {
	held := x.heldJSON()
	all, err := json.Marshal(held)
	if err != nil {
		panic(err) // it is made of strings and numbers
	}
	env := slices.DeleteFunc(slices.Clone(x.environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{"WORKLEASE_CLAIM", "WORKLEASE_RESOURCE", "WORKLEASE_GENERATION", "WORKLEASE_CLAIMS", "WORKLEASE_SESSION"}, name)
	})
	env = append(env, "WORKLEASE_SESSION="+x.work.identity.Session, "WORKLEASE_CLAIMS="+string(all))
	if len(held) != 1 {
		return env
	}
	env = append(env, "WORKLEASE_CLAIM="+string(held[0].Claim))
	if one := held[0].Resources; len(one) == 1 {
		env = append(env, "WORKLEASE_RESOURCE="+string(one[0].Resource), "WORKLEASE_GENERATION="+strconv.FormatUint(uint64(one[0].Generation), 10))
	}
	return env
}
