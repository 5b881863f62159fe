package external

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/providers"
)

// The capabilities that a program can have.
const (
	CanPlan   = "plan"
	CanStart  = "start"
	CanFinish = "finish"
)

// greeting is the first line to the program.
type greeting struct {
	Protocol int             `json:"protocol"`
	Name     string          `json:"name"`
	Settings json.RawMessage `json:"settings"`
	Extra    string          `json:"x-probe,omitempty"`
}

// Hello is what a program says of itself.
type Hello struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	// Source says for people what is read.
	Source string `json:"source"`
	// Capabilities are CanPlan, CanStart and CanFinish, and what later versions know.
	Capabilities []string `json:"capabilities"`
	Keys         Syntax   `json:"keys"`
}

// Can says whether the program has a capability.
func (h *Hello) Can(capability string) bool { return slices.Contains(h.Capabilities, capability) }

// Syntax is what the program's keys look like after the name and the colon.
type Syntax struct {
	// Pattern is a regular expression, in the syntax of package regexp, that matches the whole of them.
	Pattern string `json:"pattern"`
	// Example is one of them.
	Example string `json:"example"`
	whole   *regexp.Regexp
}

const (
	maxPattern = 1024
	// maxKey is the longest key without its name, in bytes.
	maxKey = 200
	// maxSource is the longest word for people, in bytes.
	maxSource = 1024
)

// decodeHello reads the first line of the program called name. place is where errors are said to come from.
func decodeHello(line []byte, name, place string) (*Hello, error) {
	var version struct {
		Protocol int `json:"protocol"`
	}
	var refused struct {
		Error *fault `json:"error"`
	}
	var h Hello
	if err := decode(line, &version); err != nil {
		return nil, err
	}
	switch {
	case version.Protocol <= 0:
		return nil, breach("its first line is no handshake: " + excerpt(line))
	case version.Protocol != Protocol:
		return nil, fmt.Errorf("%w: it speaks protocol %d, and this git-worklease %d", providers.ErrUnsupported, version.Protocol, Protocol)
	case !utf8.Valid(line):
		return nil, breach("it wrote what is not UTF-8: " + excerpt(line))
	}
	if err := decode(line, &refused); err != nil {
		return nil, err
	}
	if refused.Error != nil {
		return nil, &refusal{refused.Error.err(place)}
	}
	if err := decode(line, &h); err != nil {
		return nil, err
	}
	switch {
	case h.Name != name:
		return nil, breach(fmt.Sprintf("it says that it is %q", excerptText(h.Name)))
	case h.Source == "" || len(h.Source) > maxSource:
		return nil, breach(fmt.Sprintf("its source has %d bytes instead of 1 to %d", len(h.Source), maxSource))
	}
	if err := h.Keys.compile(); err != nil {
		return nil, err
	}
	return &h, nil
}

// refusal is an error that the program answered with, which it is allowed to.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

func excerptText(s string) string { return s[:min(len(s), maxKey)] }

func (s *Syntax) compile() error {
	if s.Pattern == "" || len(s.Pattern) > maxPattern {
		return breach(fmt.Sprintf("its pattern of keys has %d bytes instead of 1 to %d", len(s.Pattern), maxPattern))
	}
	if _, err := regexp.Compile(s.Pattern); err != nil {
		return breach(fmt.Sprintf("its pattern of keys is wrong: %v", err))
	}
	whole, err := regexp.Compile(`\A(?:` + s.Pattern + `)\z`)
	if err != nil {
		return breach(fmt.Sprintf("its pattern of keys is wrong: %v", err))
	}
	s.whole = whole
	if why := s.fault(s.Example); why != "" {
		return breach(fmt.Sprintf("its example of a key, %q, %s", excerptText(s.Example), why))
	}
	return nil
}

// fault says why text can't be a key after its name and colon; "" if it can.
func (s *Syntax) fault(text string) string {
	switch {
	case text == "" || len(text) > maxKey:
		return fmt.Sprintf("has %d bytes instead of 1 to %d", len(text), maxKey)
	case text[0] == '/' && len(text) > 1 && text[1] == '/':
		return "looks like an address"
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return "has other bytes than those of printable ASCII"
		}
	}
	if !s.whole.MatchString(text) {
		return "is not as its pattern says"
	}
	return ""
}
