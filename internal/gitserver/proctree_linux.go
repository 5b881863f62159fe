package gitserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// killTree kills a process and its descendants, which may be in sessions of their own.
func killTree(pid int) {
	_ = syscall.Kill(pid, syscall.SIGSTOP) // it starts no more of them
	for _, child := range children(pid) {
		killTree(child)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// children are the processes whose parent is pid.
func children(pid int) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var found []int
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var child, parent int
		var state string
		rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil || parent != pid {
			continue
		}
		if child, err = strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			found = append(found, child)
		}
	}
	return found
}
