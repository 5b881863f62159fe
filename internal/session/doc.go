// Package session keeps what one clone remembers between processes: the claims of its sessions with their private keys,
// writes whose outcome is open, what was seen of each resource, and what is known of servers. [State] implements
// [lease.Local] on disk. The package also decides which session, agent and host a command speaks for.
//
// Layout, below the folder that [Locate] finds (folders 0700, files 0600):
//
//	sessions/<name>.json   claims and keys of a session
//	pending/<id>.json      a write that was decided and not yet settled; <id>.lock is held by its writer
//	turns/<claim>.lock     held by whoever renews a claim, or pushes under it
//	seen                   the newest sighting of each resource, a log that is compacted
//	meta.json              the authority that all of this is bound to
//	remotes/<hash>.json    what is known of a server
//	use/<worktree>.json    the session's name that was bound to a worktree
//	pushes                 when requests to change refs were sent, a log that is compacted
//	glance.json            what guards have last seen of the remote
//	overrides              how people passed by guards, one line each
//	renewals/<hash>/       what keepers want to push together, see package coalesce
//	local/                 the same once more for the clone's own authority, without a remote
//
// Files are replaced by rename, or appended to whole lines at a time, under locks that are held for the moment of the write
// alone. A process may be killed at any instant. After a loss of power a session's file and a pending write are as they were when
// the call that wrote them returned; sightings of the last seconds may be missing.
//
// What can't be read is an error, never "nothing". Nothing here reads the wall clock.
package session
