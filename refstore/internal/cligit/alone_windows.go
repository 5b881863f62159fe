//go:build windows

package cligit

import "os/exec"

// alone gives cmd a session of its own, without a terminal, which ends as a whole. It says whether it could.
func alone(*exec.Cmd) bool { return false }
