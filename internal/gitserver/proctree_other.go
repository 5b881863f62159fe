//go:build !linux

package gitserver

import "os"

// killTree kills a process. Its descendants end when they notice.
func killTree(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
