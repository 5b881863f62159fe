//go:build unix

package sshgit

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs says whether the user that we run as owns the file.
func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
