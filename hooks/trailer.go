package hooks

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/lease"
)

// The trailers of a commit's message.
const (
	// TrailerKey is the claim under which a commit was made: a resource and its generation. It is evidence, and no proof: anybody can write it.
	TrailerKey = "Worklease-Claim"
	// OverrideKey is why a person passed without one.
	OverrideKey = "Worklease-Override"
)

// errTrailer says what a trailer's value should be.
var errTrailer = errors.New("want a resource and its generation, such as task:login 3")

// Trailer names a resource and the generation that its holder had.
type Trailer struct {
	Resource   lease.Resource
	Generation lease.Generation
}

// String is the trailer's value.
func (t Trailer) String() string { return fmt.Sprintf("%s %d", t.Resource, t.Generation) }

// ParseTrailer reads the value of a trailer. A resource may have blanks within.
func ParseTrailer(value string) (Trailer, error) {
	at := strings.LastIndexByte(value, ' ')
	if at < 0 {
		return Trailer{}, fmt.Errorf("%s %q: %w", TrailerKey, value, errTrailer)
	}
	resource, err := lease.ParseResource(strings.TrimSpace(value[:at]))
	generation, numberErr := strconv.ParseUint(value[at+1:], 10, 63)
	if err != nil || numberErr != nil || generation == 0 {
		return Trailer{}, fmt.Errorf("%s %q: %w", TrailerKey, value, errTrailer)
	}
	return Trailer{resource, lease.Generation(generation)}, nil
}
