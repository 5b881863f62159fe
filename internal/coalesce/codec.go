package coalesce

import (
	"encoding/json"
	"errors"

	"github.com/git-worklease/git-worklease/refstore"
)

// message is an error of a store as it travels between processes. One of its parts is set, or only Text.
type message struct {
	Undecided   *message                   `json:"undecided,omitempty"`
	Conflict    *conflict                  `json:"conflict,omitempty"`
	HalfApplied *refstore.HalfAppliedError `json:"half_applied,omitempty"`
	Refused     *refstore.RefusedError     `json:"refused,omitempty"`
	Unsupported *refstore.UnsupportedError `json:"unsupported,omitempty"`
	Unavailable *unavailable               `json:"unavailable,omitempty"`
	NoRecord    bool                       `json:"no_record,omitempty"`
	Unreadable  bool                       `json:"unreadable,omitempty"`
	Text        string                     `json:"text,omitempty"`
}

type conflict struct {
	Refs      []ref `json:"refs"`
	Overtaken bool  `json:"overtaken"`
}

type ref struct {
	Name   string          `json:"name"`
	Commit refstore.Commit `json:"commit"`
	Err    *message        `json:"err,omitempty"`
}

type unavailable struct {
	URL     string           `json:"url"`
	Trouble refstore.Trouble `json:"trouble"`
	Sent    bool             `json:"sent"`
	Err     *message         `json:"err,omitempty"`
}

// encodeErrors writes what came of the transactions of a request.
func encodeErrors(errs []error) ([]byte, error) {
	messages := make([]*message, len(errs))
	for i, err := range errs {
		messages[i] = encode(err)
	}
	return json.Marshal(messages)
}

// decodeErrors reads what encodeErrors has written. The errors are of the same types, with the same data; of their causes the words are left.
func decodeErrors(data []byte) ([]error, error) {
	var messages []*message
	if err := json.Unmarshal(data, &messages); err != nil {
		return nil, err
	}
	errs := make([]error, len(messages))
	for i, m := range messages {
		errs[i] = m.decode()
	}
	return errs, nil
}

func encode(err error) *message {
	if err == nil {
		return nil
	}
	m := &message{}
	var undecided *refstore.UndecidedError
	var moved *refstore.ConflictError
	var down *refstore.UnavailableError
	switch {
	case errors.As(err, &undecided): // before all others, because it wraps what went wrong last
		m.Undecided = encode(undecided.Err)
		if m.Undecided == nil {
			m.Undecided = &message{}
		}
	case errors.As(err, &moved):
		m.Conflict = encodeConflict(moved)
	case errors.As(err, &m.HalfApplied), errors.As(err, &m.Refused), errors.As(err, &m.Unsupported):
	case errors.As(err, &down):
		m.Unavailable = &unavailable{URL: down.URL, Trouble: down.Trouble, Sent: down.Sent, Err: encode(down.Err)}
	default:
		m.NoRecord, m.Unreadable, m.Text = errors.Is(err, refstore.ErrNotRecord), errors.Is(err, refstore.ErrUnreadable), err.Error()
	}
	return m
}

func encodeConflict(err *refstore.ConflictError) *conflict {
	c := &conflict{Overtaken: err.Overtaken}
	for _, r := range err.Refs {
		c.Refs = append(c.Refs, ref{Name: r.Name, Commit: r.Commit, Err: encode(r.Err)})
	}
	return c
}

func (m *message) decode() error {
	switch {
	case m == nil:
		return nil
	case m.Undecided != nil:
		return &refstore.UndecidedError{Err: m.Undecided.decode()}
	case m.Conflict != nil:
		return m.Conflict.decode()
	case m.HalfApplied != nil:
		return m.HalfApplied
	case m.Refused != nil:
		return m.Refused
	case m.Unsupported != nil:
		return m.Unsupported
	case m.Unavailable != nil:
		return m.Unavailable.decode()
	case m.NoRecord:
		return &noRecordError{m}
	}
	return errors.New(m.Text)
}

// noRecordError is a [refstore.ErrNotRecord] in the words that it came in.
type noRecordError struct{ m *message }

func (e *noRecordError) Error() string { return e.m.Text }

func (e *noRecordError) Is(target error) bool {
	return target == refstore.ErrNotRecord || target == refstore.ErrUnreadable && e.m.Unreadable
}

// errNoCause stands for a cause that whoever wrote the file has left out.
var errNoCause = errors.New("no cause was given")

func (u *unavailable) decode() error {
	err := u.Err.decode()
	if err == nil {
		err = errNoCause
	}
	return &refstore.UnavailableError{URL: u.URL, Trouble: u.Trouble, Sent: u.Sent, Err: err}
}

func (c *conflict) decode() error {
	err := &refstore.ConflictError{Overtaken: c.Overtaken}
	for _, r := range c.Refs {
		err.Refs = append(err.Refs, refstore.Ref{Name: r.Name, Commit: r.Commit, Err: r.Err.decode()})
	}
	return err
}
