//go:build !unix

package session_test

import "errors"

func playSystem(string, []string) error { return errors.ErrUnsupported }
