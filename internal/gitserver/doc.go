// Package gitserver runs real git servers on loopback for tests and measurements: git http-backend behind net/http, sshd,
// and bare repositories that are reached by path. It can make them fail at a chosen request or byte, and it gives each
// simulated user a clone with a configuration of its own.
//
// It is test support: the released binary does not contain it. The functions that start something return it with a Close
// method; those whose names begin with Test take a [TB], fail the test themselves and clean up at its end.
package gitserver
