//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Alone gives a command, which is not started yet, a session of its own without a terminal: nobody can be asked, and [Kill] ends it together
// with all that it has started. It says whether it could.
func Alone(cmd *exec.Cmd) bool {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return true
}

// Kill ends a command that was started, and all that it has started if it is alone.
func Kill(cmd *exec.Cmd) error {
	if cmd.SysProcAttr != nil && cmd.SysProcAttr.Setsid {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return cmd.Process.Kill()
}
