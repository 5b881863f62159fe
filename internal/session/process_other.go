//go:build !linux && !darwin && !windows

package session

// SystemProcesses knows no process on this system.
type SystemProcesses struct{}

// Lookup finds nothing.
func (SystemProcesses) Lookup(int) (Process, bool) { return Process{}, false }
