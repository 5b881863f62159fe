//go:build unix

package cligit

import (
	"os/exec"
	"syscall"
)

// alone gives cmd a session of its own, without a terminal, which ends as a whole. It says whether it could.
func alone(cmd *exec.Cmd) bool {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return true
}
