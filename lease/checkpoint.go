package lease

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// CheckpointRequest names claims by any of their resources; none: the one that the session holds.
type CheckpointRequest struct {
	Resources []Resource
	// Data is one JSON value of at most [MaxCheckpoint] bytes; nothing and null take away what is there.
	Data json.RawMessage
}

// Checkpoint puts data to resume from into every record of a claim, by a renewal. Whoever has the resources next gets it, however the claim ends.
// It returns a [*WhichClaimError] where no resource is named and the session holds several claims. The error is the first of the results' errors.
func (a *Authority) Checkpoint(ctx Context, req CheckpointRequest) ([]RenewResult, error) {
	data, err := req.compact()
	if err != nil {
		return nil, err
	}
	groups, err := a.group(ctx, VerbRenew, req.Resources)
	if err != nil {
		return nil, err
	}
	if len(req.Resources) == 0 && len(groups) > 1 {
		return nil, whichClaim(groups)
	}
	return a.renewGroups(ctx, groups, manner{amend: func(r *Record) { r.Checkpoint = data }})
}

func whichClaim(groups []group) error {
	e := &WhichClaimError{}
	for _, g := range groups {
		e.Resources = append(e.Resources, g.asked[0])
	}
	return e
}

// compact judges the data, and takes out what carries no meaning.
func (r *CheckpointRequest) compact() (json.RawMessage, error) {
	if len(r.Data) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, r.Data); err != nil {
		return nil, fmt.Errorf("%w: checkpoint: %w", ErrBadRequest, err)
	}
	switch {
	case b.String() == "null":
		return nil, nil
	case !utf8.Valid(b.Bytes()):
		return nil, fmt.Errorf("%w: checkpoint: %w", ErrBadRequest, errUTF8)
	case b.Len() > MaxCheckpoint:
		return nil, fmt.Errorf("%w: checkpoint of %d bytes, of at most %d", ErrBadRequest, b.Len(), MaxCheckpoint)
	}
	return b.Bytes(), nil
}
