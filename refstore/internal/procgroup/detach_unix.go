//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Detach keeps an interrupt typed at the terminal away from a command, which is not started yet: ended between two refs, it would leave half
// of what should be all or none.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
