package providers

import "time"

// Key names an item, and is the resource that is claimed for it: its scheme, a colon, and the same bytes however a person spelled it, such as
// "github:acme/app#42". It is in lower case where the tracker ignores case.
type Key string

// State is how far an item has come, over all trackers.
type State string

// The states. An item whose tracker says something that is not understood is [Waiting].
const (
	// Open is work that nobody has begun.
	Open State = "open"
	// Started is work in progress, or in review.
	Started State = "started"
	// Waiting is work that is not to be taken yet: a draft, triage, put off, blocked by hand.
	Waiting State = "waiting"
	// Done is finished work.
	Done State = "done"
	// Cancelled is closed without having been done.
	Cancelled State = "cancelled"
)

// Closed says that nothing is left to do: what depends on it need not wait any more.
func (s State) Closed() bool { return s == Done || s == Cancelled }

// Opening is how often an item was opened.
type Opening string

// The openings.
const (
	OpenedOnce  Opening = "once"
	OpenedAgain Opening = "again" // it was closed in between
)

// Priority orders items: the smaller the more urgent. The zero value says that the tracker names none, and comes after all others.
type Priority int

// The priorities, over all trackers.
const (
	NoPriority Priority = iota
	Urgent
	High
	Medium
	Low
	Lowest
)

// Item is a unit of work as its tracker shows it. All its text is the tracker's and may hold anything.
type Item struct {
	Key Key
	// ID is what the tracker's users call it: "#42", "TASK-7", "ENG-123".
	ID    string
	Title string
	// URL is where a person reads it: an address, or a file relative to the top of the work tree.
	URL   string
	State State
	// Opening says whether the tracker remembers an open item closed; empty where it can't tell.
	Opening Opening
	// Status is the tracker's own word for the state: "In Progress".
	Status   string
	Priority Priority
	Labels   []string
	// Assignees are the names that the tracker knows people and agents by.
	Assignees []string
	Milestone string
	// Parent is the item that this one is a part of, if any.
	Parent Key
	// Needs are the items that have to be closed before this one can be worked on.
	Needs []Need
	// Pulls are open pull requests that close the item, if the tracker knows of any.
	Pulls []Pull
	// Version differs whenever the item does; it is compared for equality alone.
	Version string
	// Updated is when the tracker says that it last changed; zero where it does not.
	Updated time.Time
}

// Need is an item that another waits for.
type Need struct {
	// Key is empty where what the tracker names is no item that can be named: then Text says what was found.
	Key Key
	// Text is the dependency as the tracker has it.
	Text string
	// Kind is the tracker's own word for it: "blocks", "parent-child", "sub-issue".
	Kind string
	// State is how far it has come; empty where the tracker did not say. A listing that has the item itself is the better witness.
	State State
}

// Pull is a pull request.
type Pull struct {
	ID, URL string
	Draft   bool
}

// Listing is what a tracker knew when it was asked. It is stale as soon as it is read.
type Listing struct {
	// Items are the open ones, in the tracker's own order of urgency, and such closed ones as it had at hand. No key comes twice.
	Items []Item
	// Troubles are what could not be read. The items are all the same right, and there may be more of them.
	Troubles []error
	// Read is when it was read, which is long ago for one that a rate limit made the tracker repeat.
	Read time.Time
}

// Complete says that nothing is missing.
func (l *Listing) Complete() bool { return len(l.Troubles) == 0 }
