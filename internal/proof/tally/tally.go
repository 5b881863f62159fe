// Package tally collects the figures of the tests that prove the promises, wherever those tests are: against which kind of server, under which
// kind of fault, how much was done, and what was found.
package tally

import (
	"encoding/json"
	"os"
	"testing"
)

// file is the environment variable with the file that rows are written to.
const file = "PROOF_REPORT"

// Row is what one test has done against one kind of server under one kind of fault.
type Row struct {
	// Part is what was proved: "linearizable", "offsets", "kill points", "skew", …
	Part string `json:"part"`
	// Server is the kind: memory, http, ssh, path, local, git (through the system's git).
	Server string `json:"server"`
	// Fault is the kind of fault, "none" without any.
	Fault string `json:"fault"`
	// Operations are verbs or exchanges, Faults how many of them met a fault, Unknown how many ended with an unknown outcome.
	Operations int `json:"operations"`
	Faults     int `json:"faults"`
	Unknown    int `json:"unknown"`
	// Noticed counts what was to be noticed, not prevented, and was: rollbacks, wipes.
	Noticed int `json:"noticed,omitempty"`
	// Violations are broken promises; a test that finds one fails as well.
	Violations int `json:"violations"`
}

// Add adds the figures of another row.
func (r *Row) Add(other Row) {
	r.Operations += other.Operations
	r.Faults += other.Faults
	r.Unknown += other.Unknown
	r.Noticed += other.Noticed
	r.Violations += other.Violations
}

// Full says whether the tests were asked for their full size, as `make proof` does. Otherwise they do what fits in a few seconds.
func Full() bool { return os.Getenv(file) != "" }

// Add logs a row, and adds it to the report if there is one.
func Add(t testing.TB, r Row) {
	t.Helper()
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("proof: %s", line)
	path := os.Getenv(file)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(append(line, '\n')) // one write, so that rows of several test programs don't mix
	if closed := f.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}
