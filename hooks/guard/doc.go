// Package guard judges a commit or a push by the policy and by claims: what a hook does when it runs.
//
// A guard answers allow, deny or can't tell, and each finding says why; how strict that is, the policy says. For a commit it goes by what this clone
// knows of its own claims, whose keys it has, and by a listing of the others' path claims that is at most a minute old; for a push it asks the remote. Where
// nothing asks for a claim and the clone has none, it asks nobody. It keeps nobody out who does not run it.
//
// Times are this machine's, by the clock that the caller passes in.
package guard
