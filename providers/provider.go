package providers

import "context"

// Provider is one tracker, or one project of it. It may be used by several goroutines at once.
type Provider interface {
	// Name is what settings and messages call it, and the scheme of its keys: "github".
	Name() string
	// Source says for people what it reads: "github.com/acme/app", "backlog/tasks".
	Source() string
	// Parse reads a key as a person types it, with or without the scheme, and an address. It asks nobody and reads no item, so it says nothing of whether
	// there is one. It returns [ErrNotKey], wrapped, for what no item of this tracker can be called, and a [*KeyError] for what is nearly a key.
	Parse(text string) (Key, error)
	// List reads the open items. What could not be read is among the listing's troubles; an error is returned where there is nothing to show at all.
	// report, which may be nil, is told how many items have been read, and of how many; the latter is 0 where nobody knows.
	List(ctx context.Context, report func(read, of int)) (*Listing, error)
	// Read reads one item anew, closed or not. It returns [ErrNotFound], wrapped, where there is none.
	Read(ctx context.Context, key Key) (*Item, error)
}

// Worker is who works on an item, as announcements name it.
type Worker struct {
	// Agent is the holder's stable name, Session that of its run.
	Agent, Session string
	// Text is a line for people to read, which may be empty.
	Text string
}

// Starter is a tracker that can be told that work has begun. Where that is known only once it was asked, its methods return [ErrUnsupported], wrapped, and
// change nothing.
type Starter interface {
	Provider
	// Start marks an item as being worked on, and says what it changed: nothing where the item says so already. Where only a part could be changed it
	// returns both that and an error.
	Start(ctx context.Context, key Key, by Worker) (Mark, error)
	// Unstart takes back what Start has changed, as far as it still stands: what anybody changed since then stays.
	Unstart(ctx context.Context, key Key, mark Mark) error
}

// Planner is a [Starter] that knows beforehand what it would change, so that a claim can note that first: whatever a process leaves at the tracker that is killed
// in between is known then, and can be taken back. Where that is known only once it was asked, it returns [ErrUnsupported], wrapped.
type Planner interface {
	Starter
	// Plan says what Start would change now, and changes nothing. Its errors are those of Start.
	Plan(ctx context.Context, key Key, by Worker) (Mark, error)
}

// Finisher is a tracker that can be told that work is over. Where that is known only once it was asked, it returns [ErrUnsupported], wrapped, and changes
// nothing.
type Finisher interface {
	Provider
	// Finish notes what has come of the work. Doing it twice changes nothing the second time.
	Finish(ctx context.Context, key Key, by Worker, result Result) error
}

// Result is what has come of work on an item.
type Result string

// The results.
const (
	// Finished closes the item, if the tracker's settings say that claims may.
	Finished Result = "done"
	// Reviewing leaves it open for whoever reviews the work.
	Reviewing Result = "review"
)

// Mark is what an announcement has changed at the tracker: what a claim has to know to take it back, and a reader to know whose doing it is. It is kept in
// the lease, so it is short.
type Mark struct {
	// Status and WasStatus are the tracker's words for the item's state after and before; both empty where it was left alone.
	Status    string `json:"status,omitempty"`
	WasStatus string `json:"was_status,omitempty"`
	// Assigned are the assignees that were added, Labels the labels.
	Assigned []string `json:"assigned,omitempty"`
	Labels   []string `json:"labels,omitempty"`
}

// IsZero says that nothing was changed.
func (m Mark) IsZero() bool {
	return m.Status == "" && m.WasStatus == "" && len(m.Assigned) == 0 && len(m.Labels) == 0
}
