//go:build windows

package sshgit

import "os/exec"

// alone does nothing here.
func alone(*exec.Cmd) {}

// kill ends cmd.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
