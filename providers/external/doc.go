// Package external is a tracker that is a program of the user's own: git-worklease-provider-NAME, found on PATH and spoken to in lines of JSON over its
// standard input and output. docs/providers.md has the protocol for those who write one.
//
// The program is started when it is first asked something, in the top of the work tree, and serves one request after another until its input ends. It is
// not trusted: what it says is bounded in size and time and checked, and a program that breaks the protocol is killed, together with its process group, and
// started anew for the next request. Its standard error is quoted where it fails.
//
// In the policy, a table [providers.NAME] whose name is none of the built-in trackers is such a program. This package reads no key of that table: all of them
// go to the program in its handshake ([Options.Settings]), which has to treat them as what a stranger may have committed.
package external
