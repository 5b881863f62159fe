package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// The heap may grow to four megabytes for each hundred percent before garbage is collected for the first time.
const (
	firstCollection = 400
	laterOnes       = 100
)

// collectLater puts the first collection of garbage off until the heap has 16 MB, which most runs never need: they last for some tens of milliseconds, of
// which collecting takes a tenth. From then on Go's own measure holds, so that what needs much memory does not take more. A setting of the user's stands.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(firstCollection)
	runtime.AddCleanup(new(*byte), func(struct{}) { debug.SetGCPercent(laterOnes) }, struct{}{})
}
