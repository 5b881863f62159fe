//go:build linux || darwin

package doctor

import (
	"os"
	"path/filepath"
)

// existing is dir, or the nearest folder above it that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
