//go:build unix

package sshgit

import (
	"os/exec"
	"syscall"
)

// alone gives cmd a session of its own without a terminal: nobody can be asked, and a shell ends together with the ssh that it runs.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// kill ends cmd, and all that it has started if it is alone.
func kill(cmd *exec.Cmd) {
	if cmd.SysProcAttr != nil && cmd.SysProcAttr.Setsid {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	_ = cmd.Process.Kill()
}
