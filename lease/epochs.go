package lease

import (
	"fmt"
	"slices"

	"github.com/git-worklease/git-worklease/refstore"
)

// Epoch is a generation of a resource.
type Epoch struct {
	Resource   Resource   `json:"resource"`
	Generation Generation `json:"generation"`
}

// Past is what can be said of whether there ever was an epoch.
type Past string

// What can be said.
const (
	PastWas   Past = "was"     // a record of it stands in the resource's history
	PastNever Past = "never"   // it never was, as far as the history and the floor go
	PastGone  Past = "unknown" // the history that would show it was collected, or can't be read
)

// Were says of each epoch whether it ever was, by the history of its resource. That it was says who had a right to write its number into a commit, and
// no more: whoever may read the remote can copy it.
func (a *Authority) Were(ctx Context, epochs []Epoch) ([]Past, error) {
	var resources []Resource
	for _, e := range epochs {
		if err := checkText(string(e.Resource), MaxResource); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadResource, err)
		}
		if !slices.Contains(resources, e.Resource) {
			resources = append(resources, e.Resource)
		}
	}
	if len(resources) == 0 {
		return nil, nil
	}
	s, err := a.read(ctx, resources)
	if err != nil {
		return nil, err
	}
	pasts := make([]Past, len(epochs))
	for _, r := range resources {
		var of []int
		for i, e := range epochs {
			if e.Resource == r {
				of = append(of, i)
			}
		}
		c := chain{tip: s.tips[r], floor: s.meta.Floor}
		if err := a.judgeEpochs(ctx, &c, epochs, of, pasts); err != nil {
			return nil, err
		}
	}
	return pasts, nil
}

// judgeEpochs judges those epochs of one resource. It reads no more of the history than it has to.
func (a *Authority) judgeEpochs(ctx Context, c *chain, epochs []Epoch, of []int, pasts []Past) error {
	c.takeTip()
	for depth := firstDepth; ; depth *= 8 {
		open := false
		for _, i := range of {
			pasts[i] = c.judge(epochs[i].Generation)
			open = open || pasts[i] == ""
		}
		if !open {
			return nil
		}
		commits, err := a.store.Log(ctx, c.tip.oid, depth)
		if err != nil {
			return fmt.Errorf("history of %s: %w", c.tip.resource, err)
		}
		c.take(commits, depth)
	}
}

// chain is what was read of a resource's history.
type chain struct {
	tip   *tip
	floor Generation
	// found are the generations that were read.
	found map[Generation]bool
	// newest is the tip's, 0 where it can't be read.
	newest Generation
	// whole says that all there is was read, and unread that some of it could not be judged.
	whole, unread bool
}

func (c *chain) takeTip() {
	switch {
	case c.tip.oid.IsZero():
		c.whole = true
	case c.tip.rec != nil && c.tip.err == nil:
		c.newest = c.tip.rec.Generation
		c.found = map[Generation]bool{c.newest: true}
	}
}

func (c *chain) take(commits []refstore.Commit, depth int) {
	c.found, c.whole = map[Generation]bool{}, len(commits) < depth || depth >= mostDepth
	c.unread = len(commits) >= mostDepth // and nobody reads on
	for _, commit := range commits {
		if e := entry(commit, c.tip.resource); e.Record != nil {
			c.found[e.Record.Generation] = true
		} else {
			c.unread = true
		}
	}
}

// judge says what is known of a generation, "" where more must be read.
func (c *chain) judge(g Generation) Past {
	switch {
	case c.found[g]:
		return PastWas
	case g == 0, c.newest > 0 && g > c.newest:
		return PastNever
	case !c.whole:
		return ""
	case c.unread || g <= c.floor:
		return PastGone
	default:
		return PastNever
	}
}
