//go:build unix

package localgit

import (
	"os/exec"
	"syscall"
)

// detach keeps an interrupt typed at the terminal away from a transaction that is under way.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
