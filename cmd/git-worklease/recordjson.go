package main

import (
	"encoding/json"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// recordJSON is a record for programs. It leaves out the public key and the signature: git show has them.
type recordJSON struct {
	Resource    lease.Resource     `json:"resource"`
	Claim       lease.ClaimID      `json:"claim"`
	Members     []lease.Resource   `json:"members,omitempty"`
	Holder      lease.Holder       `json:"holder"`
	Purpose     string             `json:"purpose,omitempty"`
	Generation  lease.Generation   `json:"generation"`
	Revision    uint64             `json:"revision"`
	TTLSeconds  int64              `json:"ttl_seconds"`
	Grace       int64              `json:"grace_seconds"`
	Takeover    lease.Takeover     `json:"takeover"`
	Expiry      lease.Expiry       `json:"expiry"`
	ClaimedAt   time.Time          `json:"claimed_at"`
	RenewedAt   time.Time          `json:"renewed_at"`
	State       lease.State        `json:"state"`
	Release     *lease.Release     `json:"release,omitempty"`
	Predecessor *lease.Predecessor `json:"predecessor,omitempty"`
	Checkpoint  json.RawMessage    `json:"checkpoint,omitempty"`
	Meta        map[string]string  `json:"meta,omitempty"`
}

func newRecordJSON(r *lease.Record) recordJSON {
	return recordJSON{
		Resource: r.Resource, Claim: r.Claim, Members: r.Members, Holder: r.Holder, Purpose: r.Purpose,
		Generation: r.Generation, Revision: r.Revision, TTLSeconds: r.TTLSeconds, Grace: r.GraceSeconds, Takeover: r.Takeover, Expiry: r.Expiry,
		ClaimedAt: r.ClaimedAt, RenewedAt: r.RenewedAt, State: r.State, Release: r.Release, Predecessor: r.Predecessor,
		Checkpoint: r.Checkpoint, Meta: r.Meta,
	}
}
