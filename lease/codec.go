package lease

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/refstore"
)

// encode is the message of the commit that stores r, signed by key, whose public half becomes r.Key.
func (r *Record) encode(key ed25519.PrivateKey) ([]byte, error) {
	r.V, r.Kind, r.Key = Version, KindLease, public(key)
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBadRequest, r.Resource, err)
	}
	line, err := r.line()
	if err == nil && len(line) > maxRecord && r.Released() {
		r.strip()
		line, err = r.line()
	}
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", r.Resource, err)
	}
	if len(line) > maxRecord {
		return nil, fmt.Errorf("%w: %s: record of %d bytes", ErrBadRequest, r.Resource, len(line))
	}
	return seal(r.subject(), line, key), nil
}

// subject is the line that `git log` shows.
func (r *Record) subject() string {
	verb, end := "renew", "until "+r.Until().UTC().Format(time.RFC3339)
	switch {
	case r.Released():
		verb, end = "release", string(r.Release.Outcome)
	case r.Revision == 1:
		verb = "claim"
	}
	line := strings.TrimSpace(fmt.Sprintf("%s %s · generation %d · %s %s", verb, r.Resource, r.Generation, r.Holder, end))
	return strings.ReplaceAll(line, "\n", " ") // an outcome that was read may be anything
}

// line is the record as one line of JSON. A record that was read keeps every member that did not change as it was written, and those
// that this version does not know.
func (r *Record) line() ([]byte, error) {
	line, err := marshal(r)
	if err != nil || r.raw == nil {
		return line, err
	}
	var was Record
	if err := json.Unmarshal(r.raw, &was); err != nil {
		return nil, err
	}
	wasLine, err := marshal(&was)
	if err != nil {
		return nil, err
	}
	return rewrite(r.raw, wasLine, line, recordMembers())
}

// marshal is JSON on one line, without the escapes that only a web page needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// DecodeRecord reads the lease that a commit carries; its signature is [CheckCommit]'s business. It returns [ErrCorrupt], wrapped, for
// what is no lease, and [ErrNewer], wrapped, with as much of the record as could be read, for one of a later version.
func DecodeRecord(c refstore.Commit) (*Record, error) {
	_, line, _, err := open(c.Message)
	if err != nil {
		return nil, err
	}
	return decodeLine(line, c.Parent)
}

func decodeLine(line []byte, parent refstore.OID) (*Record, error) {
	r := &Record{}
	err := json.Unmarshal(line, r)
	if err != nil {
		if newer(line) {
			return &Record{V: Version + 1, Kind: KindLease, raw: line}, fmt.Errorf("%w: %w", ErrNewer, err)
		}
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	r.raw = line
	if r.V > Version {
		return r, fmt.Errorf("%w: version %d", ErrNewer, r.V)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if r.Prev != parent {
		return nil, fmt.Errorf("%w: replaces %s, and its parent is %s", ErrCorrupt, r.Prev.Short(), parent.Short())
	}
	if !utf8.Valid(line) {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, errUTF8)
	}
	return r, nil
}

// newer says whether a line that can't be read is that of a later version.
func newer(line []byte) bool {
	var head struct{ V int }
	return json.Unmarshal(line, &head) == nil && head.V > Version
}

// The faults of a record.
var (
	errKind    = errors.New("kind")
	errState   = errors.New("state")
	errTerms   = errors.New("terms")
	errMembers = errors.New("members")
	errNumbers = errors.New("generation or revision")
	errStamps  = errors.New("time stamps")
	errClaim   = errors.New("claim ID is not that of the key")
	errSize    = errors.New("size")
)

// check judges a record of this version by the limits.
func (r *Record) check() error {
	if r.V != Version || r.Kind != KindLease {
		return fmt.Errorf("%w: %q, version %d", errKind, r.Kind, r.V)
	}
	if err := r.checkTexts(); err != nil {
		return err
	}
	if err := r.checkMembers(); err != nil {
		return err
	}
	switch {
	case r.Generation == 0 || r.Revision == 0 || r.Generation > maxNumber || r.Revision > maxNumber:
		return errNumbers
	case r.TTLSeconds < int64(MinTTL/time.Second) || r.TTLSeconds > int64(MaxTTL/time.Second):
		return fmt.Errorf("%w: ttl of %d s", errTerms, r.TTLSeconds)
	case r.GraceSeconds < 0 || r.GraceSeconds > int64(MaxGrace/time.Second):
		return fmt.Errorf("%w: grace of %d s", errTerms, r.GraceSeconds)
	case !sane(r.ClaimedAt) || !sane(r.RenewedAt):
		return errStamps
	case r.State == "" || r.Released() && (r.Release == nil || !sane(r.Release.At)):
		return errState
	case len(r.Checkpoint) > MaxCheckpoint:
		return fmt.Errorf("%w: checkpoint of %d bytes", errSize, len(r.Checkpoint))
	}
	return nil
}

// maxNumber keeps generations and revisions far from where adding to them would overflow, and exact in JavaScript.
const maxNumber = 1 << 53

// sane keeps stamps where adding durations to them can't overflow.
func sane(t time.Time) bool { return t.Year() >= 2000 && t.Year() < 9000 }

func (r *Record) checkTexts() error {
	texts := []struct{ what, text string }{{"resource", string(r.Resource)}, {"agent", r.Holder.Agent}, {"session", r.Holder.Session}}
	for i, t := range texts {
		limit := MaxName
		if i == 0 {
			limit = MaxResource
		}
		if err := checkText(t.text, limit); err != nil {
			return fmt.Errorf("%s: %w", t.what, err)
		}
	}
	if err := checkText(r.Place, MaxName); r.Place != "" && err != nil {
		return fmt.Errorf("place: %w", err)
	}
	if len(r.Key) != ed25519.PublicKeySize || r.Claim != claimID(r.Key) {
		return errClaim
	}
	return nil
}

func (r *Record) checkMembers() error {
	size := 0
	for i, m := range r.Members {
		size += len(m)
		if err := checkText(string(m), MaxResource); err != nil {
			return fmt.Errorf("%w: %w", errMembers, err)
		}
		if i > 0 && r.Members[i-1] >= m {
			return fmt.Errorf("%w: not sorted", errMembers)
		}
	}
	if len(r.Members) > MaxMembers || size > maxMembersBytes {
		return fmt.Errorf("%w: %d, %d bytes", errMembers, len(r.Members), size)
	}
	if _, found := slices.BinarySearch(r.Members, r.Resource); !found {
		return fmt.Errorf("%w: the resource is none of them", errMembers)
	}
	return nil
}
