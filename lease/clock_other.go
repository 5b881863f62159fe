//go:build !linux && !darwin && !windows

package lease

import (
	"errors"
	"time"
)

func bootID() string { return "" }

func sinceBoot() (time.Duration, error) { return 0, errors.ErrUnsupported }
