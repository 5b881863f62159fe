//go:build !linux && !darwin

package doctor

import "errors"

// diskOf does not know how this system tells it.
func diskOf(string) (disk, error) { return disk{}, errors.ErrUnsupported }
