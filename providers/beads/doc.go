// Package beads reads the issues of Beads, the tracker whose program is bd and whose folder is .beads at the top of a work tree.
//
// Where bd is installed it is asked, with --json: list, show, update and close. It then decides what is true, and can be told of work. Where it is not,
// .beads/issues.jsonl is read, the export of its database that projects commit: as old as that was when it was written, and never written here, since bd
// would not see it. bd is a program of the user's PATH; nothing in the repository can name another.
//
// An issue's key is "beads:" and its ID in lower case: beads:demo-47b, beads:demo-a1b2.3.
//
// What waits for what is as bd has it. An issue waits for those that it depends on by "blocks" and "conditional-blocks", until they are closed or pinned.
// By "parent-child" it waits for whatever its parent waits for, and not for the parent itself. By "waits-for" it waits for the children of the
// issue named: for all of them, or where its gate is "any-children" for the first to be closed. All other kinds of dependencies are notes. Unlike with
// bd, an issue whose dependency is not in the listing waits for it for ever.
//
// Issues that bd's own list of ready work leaves out are [providers.Waiting]: those that are blocked, deferred or pinned by hand, put off until a
// time that is yet to come on the clock of Options.Now or whose parent is, templates, wisps, gates, molecules, messages, and those with a status of the project's own.
//
// The table [providers.beads] of the policy has, all optional:
//
//	prefixes = ["demo"]   # what the IDs of the project begin with; else issue-prefix of .beads/config.yaml, that of the first
//	                      # issue in .beads/issues.jsonl, or the database's name in .beads/metadata.json
//	file_only = false     # read .beads/issues.jsonl though bd is installed
package beads
