//go:build !mangen

package main

import (
	"os"

	"github.com/git-worklease/git-worklease/lease"
)

func main() {
	collectLater()
	os.Exit(run(&lease.SystemClock{}))
}
