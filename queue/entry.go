package queue

import (
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

// Entry is an item with what is known of its claim.
type Entry struct {
	Item providers.Item
	// Claim is what stands at the item's ref; nil where it has none, or the claims could not be read.
	Claim *lease.View
	// Mine says that this session holds it.
	Mine bool
	// Why is what keeps this agent from taking the item, the weightiest first; none: it is ready.
	Why []Reason
}

// Ready says whether this agent may take the item.
func (e *Entry) Ready() bool { return len(e.Why) == 0 }

// Kind is what kind of reason keeps an item from being taken. Kinds are stable.
type Kind string

// The kinds of reasons.
const (
	Closed      Kind = "closed"       // the tracker has it closed
	Held        Kind = "claimed"      // by another, or by this session already
	Reserved    Kind = "reserved"     // kept for another agent
	Unknown     Kind = "unknown"      // whether it is claimed can't be told
	NotYet      Kind = "waiting"      // the tracker says that it is not to be taken yet
	Begun       Kind = "started"      // somebody works on it without a claim
	Assigned    Kind = "assigned"     // to another
	Answered    Kind = "answered"     // its last claim ended with its work done, or to be reviewed
	PullRequest Kind = "pull-request" // an open one closes it
	Unmerged    Kind = "unmerged"     // the branch of its rule is at the remote, and not merged
	Needs       Kind = "needs"        // another item that is not closed
	Missing     Kind = "needs-missing"
	Foreign     Kind = "needs-foreign" // an item of a tracker that is not set up, or text that is no key
	Cycle       Kind = "needs-cycle"   // it waits, over others, for itself
)

// Reason keeps an item from being taken.
type Reason struct {
	Kind Kind
	// Who is an agent, an assignee or a status; Key an item; Name a branch or a pull request: whichever the kind is about.
	Who  string
	Key  providers.Key
	Name string
}

// Branch is a branch at the remote that a rule asks an item's claim for.
type Branch struct {
	Name string
	// Merged says that all of it is in the default branch.
	Merged bool
}

// Branches is what is known of the branches at the remote.
type Branches struct {
	// Of are those whose rule asks for an item's claim.
	Of map[providers.Key][]Branch
	// Has says whether there is a branch of that name.
	Has func(name string) bool
	// Dropped says that a commit, with which a branch ended, is known not to be in the default branch, nor what it brought.
	Dropped func(tip string) bool
}

// Facts is what items are judged by. It is all read before, so that the judgement asks nobody.
type Facts struct {
	// Claims are the views of all claims; see [lease.Authority.List].
	Claims []lease.View
	// Blind says that the claims could not be read: then nothing is ready.
	Blind bool
	// Agent is this agent's name, and Names those by which trackers may know it, in any case.
	Agent string
	Names []string
	// Branches are those at the remote; nil: they were not read.
	Branches *Branches
	// Again takes items whose work was answered.
	Again bool
	// Schemes are the names of the trackers that were read whole.
	Schemes map[string]bool
}
