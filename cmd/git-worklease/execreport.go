package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
)

// execJSON is how a run went, for programs.
type execJSON struct {
	// Outcome is done or failed for a command that ended by itself, ended for one that exec ended, and not-started.
	Outcome string     `json:"outcome"`
	Command []string   `json:"command"`
	Claims  []heldJSON `json:"claims"`
	// Claimed says that exec made the claim itself.
	Claimed bool `json:"claimed"`
	// Status and Signal are the command's; Status is null where a signal ended it.
	Status    *int       `json:"status"`
	Signal    int        `json:"signal,omitempty"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	Seconds   float64    `json:"duration_seconds,omitempty"`
	// ExitStatus is that of exec.
	ExitStatus int `json:"exit_status"`
}

func (x *execution) result(err error) execJSON {
	j := execJSON{Outcome: "not-started", Command: x.o.command, Claims: x.heldJSON(), Claimed: x.made, ExitStatus: x.status.Exit()}
	if err != nil {
		j.ExitStatus = int(x.judge(err).Exit)
	}
	if x.job == nil {
		return j
	}
	began, ended := x.began.UTC(), x.ended.UTC()
	j.StartedAt, j.EndedAt, j.Seconds = &began, &ended, ended.Sub(began).Seconds()
	if j.Signal = x.status.Signal; j.Signal == 0 {
		j.Status = &x.status.Code
	}
	switch {
	case err != nil:
		j.Outcome = "ended"
	case x.status.Exit() == 0:
		j.Outcome = "done"
	default:
		j.Outcome = "failed"
	}
	return j
}

// writeReport writes the document that --json prints to a file that only its owner can read, whole or not at all. What is no file, a pipe or a device, is
// written to and never replaced.
func (a *app) writeReport(path string, o *outcome) error {
	var b bytes.Buffer
	if err := a.envelope(o).write(&b); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeTo(path, b.Bytes())
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".git-worklease-*")
	if err != nil {
		return fmt.Errorf("%s: %w", path, errors.Unwrap(err)) // without the temporary name
	}
	_, err = f.Write(b.Bytes())
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may be gone
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// writeTo writes to what stands at path.
func writeTo(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// judge explains an error. Those of exec have an exit status that tells them from the command's.
func (a *app) judge(err error) fault.Fault {
	f := fault.Explain(err, a.scene())
	if a.operation == execOperation {
		ownStatus(&f)
	}
	return f
}
