package external

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/providers"
)

// Protocol is the version that is spoken here.
const Protocol = 1

// request is a line to the program.
type request struct {
	ID     int64             `json:"id"`
	Op     string            `json:"op"`
	Text   string            `json:"text,omitempty"`
	Key    providers.Key     `json:"key,omitempty"`
	Worker *worker           `json:"worker,omitempty"`
	Mark   *providers.Mark   `json:"mark,omitempty"`
	Result providers.Result  `json:"result,omitempty"`
	Extra  map[string]string `json:"x-probe,omitempty"`
}

type worker struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Text    string `json:"text"`
}

// answer is a line of the program's answer to a request. One of its parts is set, or a mark and an error.
type answer struct {
	ID       int64           `json:"id"`
	Key      *string         `json:"key"`
	Item     json.RawMessage `json:"item"`
	Mark     *providers.Mark `json:"mark"`
	OK       bool            `json:"ok"`
	End      bool            `json:"end"`
	Troubles []*fault        `json:"troubles"`
	Progress *progress       `json:"progress"`
	Error    *fault          `json:"error"`
}

// progress is a sign of life, and for a listing how many items there will be, if that is known.
type progress struct {
	Of int `json:"of"`
}

// decodeAnswer reads a line of an answer to the request with an id.
func decodeAnswer(line []byte, id int64) (*answer, error) {
	var a answer
	if err := decode(line, &a); err != nil {
		return nil, err
	}
	if string(a.Item) == "null" {
		a.Item = nil
	}
	switch {
	case a.ID != id:
		return nil, breach(fmt.Sprintf("it answered request %d when %d was asked: %s", a.ID, id, excerpt(line)))
	case !utf8.Valid(line) && a.Item == nil:
		return nil, breach("it wrote what is not UTF-8: " + excerpt(line))
	}
	return &a, nil
}

// decode reads a line that has to be an object of JSON.
func decode(line []byte, into any) error {
	if text := bytes.TrimSpace(line); len(text) == 0 || text[0] != '{' {
		return breach("it wrote what is no object of JSON: " + excerpt(line))
	}
	if err := json.Unmarshal(line, into); err != nil {
		return breach(fmt.Sprintf("it wrote what can't be read: %s: %s", unreadable(err), excerpt(line)))
	}
	return nil
}

// unreadable says why JSON can't be read, in words of the protocol.
func unreadable(err error) string {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) && t.Field != "" {
		return fmt.Sprintf("%s as %s", article(t.Value), t.Field)
	}
	return err.Error()
}

func article(noun string) string {
	if strings.HasPrefix(noun, "a") || strings.HasPrefix(noun, "o") {
		return "an " + noun
	}
	return "a " + noun
}

// excerpt is the beginning of a line, quoted.
func excerpt(line []byte) string {
	const most = 120
	text := bytes.TrimRight(line, "\r\n")
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q…", text[:most])
}

// encode is a line for the program. It has no escapes but those that JSON asks for.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	if b.Len() > maxLine {
		return nil, fmt.Errorf("a request of %d bytes, of at most %d", b.Len(), maxLine)
	}
	return b.Bytes(), nil
}

// fault is the program's word for what went wrong.
type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Where and Line are the place of what is broken.
	Where string `json:"where"`
	Line  int    `json:"line"`
	// Until is when a tracker that is rate limited may be asked again.
	Until string `json:"until"`
	// Want says for what is nearly a key what was expected.
	Want string `json:"want"`
}

// codes are the errors that a program can answer with.
var codes = map[string]error{
	"not-key":      providers.ErrNotKey,
	"not-found":    providers.ErrNotFound,
	"unauthorised": providers.ErrUnauthorised,
	"rate-limited": providers.ErrRateLimited,
	"unsupported":  providers.ErrUnsupported,
	"unavailable":  providers.ErrUnavailable,
	"broken":       providers.ErrBroken,
	"taken":        providers.ErrTaken,
}

// maxMessage is how much of a program's message is kept, in bytes.
const maxMessage = 1024

func (f *fault) message() string {
	if len(f.Message) <= maxMessage {
		return f.Message
	}
	return strings.ToValidUTF8(f.Message[:maxMessage], "") + "…"
}

// err is the error that a fault is, of the request that place names.
func (f *fault) err(place string) error {
	kind, known := codes[f.Code]
	switch {
	case !known:
		return &providers.BrokenError{Where: place, Err: breach(fmt.Sprintf("it answered with the unknown error %q: %s", excerptText(f.Code), f.message()))}
	case errors.Is(kind, providers.ErrBroken):
		return &providers.BrokenError{Where: orElse(f.Where, place), Line: max(0, f.Line), Err: breach(orElse(f.message(), "it can't be read"))}
	case errors.Is(kind, providers.ErrRateLimited):
		until, _ := time.Parse(time.RFC3339, f.Until) // zero where it does not say
		kind = &providers.RateLimitedError{Until: until, Request: place}
	default:
		kind = fmt.Errorf("%s: %w", place, kind)
	}
	return &faultError{f, kind}
}

// trouble is err for a part of a listing, which is broken where it does not say what else.
func (f *fault) trouble(place string) error {
	part := *f
	part.Code = orElse(f.Code, "broken")
	return part.err(place)
}

// faultError is an error of package providers with what the program has said of it.
type faultError struct {
	*fault
	kind error
}

func (e *faultError) Error() string {
	if e.Message == "" {
		return e.kind.Error()
	}
	return fmt.Sprintf("%v: %s", e.kind, e.message())
}

func (e *faultError) Unwrap() error { return e.kind }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
