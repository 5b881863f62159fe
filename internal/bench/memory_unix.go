//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory is the largest resident set of an ended process, in bytes; 0 where it is not known.
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) //nolint:unconvert // 32 bits wide on some systems
	}
	return int64(usage.Maxrss) << 10 //nolint:unconvert // likewise
}
