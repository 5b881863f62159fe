package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
)

// schemaVersion is that of every JSON document that this program prints.
const schemaVersion = 1

// envelope is the one JSON document of a run.
type envelope struct {
	SchemaVersion int      `json:"schema_version"`
	Operation     string   `json:"operation"`
	OK            bool     `json:"ok"`
	Authority     string   `json:"authority,omitempty"`
	Result        any      `json:"result,omitempty"`
	Error         *failure `json:"error,omitempty"`
	Notices       []string `json:"notices,omitempty"`
}

// failure is the error of an envelope.
type failure struct {
	Reason   string `json:"reason"`
	ExitCode int    `json:"exit_code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Details  any    `json:"details,omitempty"`
}

func newFailure(f fault.Fault) *failure {
	return &failure{Reason: f.Reason, ExitCode: int(f.Exit), Message: f.Message, Hint: f.Hint, Details: f.Details}
}

// write prints the document on one line, so that a log of runs stays a log of lines.
func (v *envelope) write(w io.Writer) error {
	v.SchemaVersion = schemaVersion
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = w.Write(term.CleanJSON(b.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}
