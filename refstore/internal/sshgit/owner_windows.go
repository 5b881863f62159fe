//go:build windows

package sshgit

import "io/fs"

// ownedByUs is never asked: connections are not shared there.
func ownedByUs(fs.FileInfo) bool { return false }
