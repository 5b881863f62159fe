//go:build !unix && !windows

package session

import "io/fs"

const noFollow = 0

const othersMask fs.FileMode = 0

func isLink(error) bool { return false }

func isFull(error) bool { return false }

func isReadOnly(error) bool { return false }

func syncDir(string) error { return nil }

func inode(string) (uint64, error) { return 0, nil }
