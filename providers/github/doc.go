// Package github is GitHub's issues and pull requests as a tracker, at github.com, at a host of ghe.com, or at an Enterprise server.
//
// An item is an issue or a pull request, since both count by the same numbers: its key is "github:acme/app#42", and with another host than github.com
// "github:ghe.example.com/acme/app#42", in lower case. An open pull request is work in progress, so it is [providers.Started].
//
// The policy's table [providers.github] has these keys:
//
//	repo       = "acme/app"       string: the repository, with its host in front where that is not github.com; default: the remote's
//	started    = "in progress"    string: the label of work in progress; "" for none
//	review     = "in review"      string: the label of work that waits for review; "" for none
//	close      = false            bool: whether finished work closes its issue; a pull request is never closed
//	priorities = { P0 = "urgent" } table of strings: what labels say, in place of [DefaultPriorities]; see [ParsePriorities]
//
// A repository that was renamed answers by its old name as well, which would give an item two keys: whoever writes the policy pins one in repo.
//
// An item waits for what "blocked by" names, for its sub-issues, for issues at the beginning of an unchecked line of a task list, and for those of a
// line that begins with "depends on" or "blocked by". Text in code, comments and quotes says nothing.
//
// Answers are kept in a folder, and asked for again on condition that they have changed. While the API's limit is reached nothing is sent, also by later
// processes; a listing is repeated from the folder, and says so. No token is ever written there, nor sent to another host than the API's.
package github
