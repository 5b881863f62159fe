package main

import (
	"errors"
	"time"

	"github.com/git-worklease/git-worklease/internal/config"
)

var errDuration = errors.New("want a duration, such as 90s, 10m, 1h30m or 2d")

// durationFlag is a flag for a length of time, written as in settings.
type durationFlag struct{ into *time.Duration }

func (f durationFlag) String() string {
	if f.into == nil || *f.into == 0 {
		return ""
	}
	return f.into.String()
}

func (f durationFlag) Type() string { return "duration" }

func (f durationFlag) Set(s string) error {
	d, ok := config.ParseDuration(s)
	if !ok {
		return errDuration
	}
	*f.into = d
	return nil
}
