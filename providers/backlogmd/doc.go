// Package backlogmd reads and announces work in a project of Backlog.md: Markdown files with front matter, in a folder of the work tree. It reads the
// files themselves, as they are in this work tree, and asks neither git nor the network. It says of an item what the backlog program would say of it, with
// three exceptions: a status that the configuration does not have is not understood, and such an item waits; what can't be read is named and not left out in silence; and
// a draft is an item that waits.
//
// Keys are "backlogmd:task-7" and "backlogmd:task-3.1", with the project's own prefix in lower case and without leading zeros, and "backlogmd:draft-2".
//
// An announcement goes through the backlog program where that is installed, which writes the file anew in its own form, runs what the project has set for a change of status, and commits
// if it was told to. Elsewhere the front matter is edited, and every other byte stays.
//
// Its table of the policy is [providers.backlogmd], and may be empty:
//
//	directory  string           the project's folder, relative to the top of the work tree; that itself
//	open       list of strings  the statuses of work that nobody has begun; the first of the project's statuses
//	started    string           the status that a claim announces; one that is called "in progress", "doing", "started" or "active", or else the first that is
//	                            neither open nor the last
package backlogmd
