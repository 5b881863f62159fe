//go:build windows

package procgroup

import "os/exec"

// Alone would give a command a session of its own. It says whether it could.
func Alone(*exec.Cmd) bool { return false }

// Kill ends a command that was started.
func Kill(cmd *exec.Cmd) error { return cmd.Process.Kill() }
