package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/git-worklease/git-worklease/providers"
)

// Options says what to look at beyond what only reads. Its zero value is usable.
type Options struct {
	// Announce is an open item that nobody is assigned to, on which work is announced and taken back; empty: none.
	Announce providers.Key
	// Missing is a key that the tracker has no item of; empty: that is not looked at.
	Missing providers.Key
	// Items is how many of the listed items are read alone; 0: 20.
	Items int
	// Begin, where it is set, is told each check before it begins.
	Begin func(check string)
}

// Finding is what a check has found.
type Finding struct {
	// Check is its name: "handshake", "keys", "listing", "reading", "versions", "missing", "cancelled", "at once", "announcing".
	Check string
	// Err says what is wrong.
	Err error
	// Note says that it is not the provider's fault: its data has troubles, or there was nothing to look at.
	Note bool
}

// Prober is a provider that can look at more of itself than its interface shows.
type Prober interface {
	Probe(ctx context.Context) []error
}

const (
	// most is how many items a listing may have.
	most = 100_000
	// some is how many items are read alone.
	some = 20
	// enough is how many findings a check has, before the others are only counted.
	enough = 20
)

// check is a provider that is being looked at.
type check struct {
	Options
	p        providers.Provider
	name     string
	listing  *providers.Listing
	findings []Finding
	// had is how many of them the present check has had.
	had int
}

// Check looks at a provider. No findings but notes: it does what it should, as far as that shows.
func Check(ctx context.Context, p providers.Provider, opts Options) []Finding {
	if opts.Items <= 0 {
		opts.Items = some
	}
	c := &check{Options: opts, p: p}
	for _, part := range []struct {
		name string
		run  func(context.Context)
		// items: there have to be some.
		items bool
	}{
		{"handshake", c.handshake, false},
		{"listing", c.list, false},
		{"keys", c.keys, true},
		{"reading", c.reading, true},
		{"versions", c.versions, true},
		{"missing", c.missing, false},
		{"cancelled", c.cancelled, false},
		{"at once", c.atOnce, true},
		{"announcing", c.announcing, false},
	} {
		c.name, c.had = part.name, 0
		if ctx.Err() != nil {
			c.wrong("not looked at: %w", ctx.Err())
			break
		}
		if c.Begin != nil {
			c.Begin(part.name)
		}
		if part.items && (c.listing == nil || len(c.listing.Items) == 0) {
			c.note(errors.New("not looked at, since there are no items"))
			continue
		}
		part.run(ctx)
		if more := c.had - enough; more > 0 {
			c.findings = append(c.findings, Finding{Check: c.name, Err: fmt.Errorf("%d more", more)})
		}
	}
	return c.findings
}

func (c *check) wrong(format string, args ...any) {
	if c.had++; c.had <= enough {
		c.findings = append(c.findings, Finding{Check: c.name, Err: fmt.Errorf(format, args...)})
	}
}

func (c *check) note(err error) {
	c.findings = append(c.findings, Finding{Check: c.name, Err: err, Note: true})
}

// refused adds a finding for each error of those that were joined; none of theirs is taken apart.
func (c *check) refused(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // one that was made by errors.Join right here
		for _, err := range joined.Unwrap() {
			c.wrong("%w", err)
		}
	} else if err != nil {
		c.wrong("%w", err)
	}
}

// handshake: what only the provider itself can look at.
func (c *check) handshake(ctx context.Context) {
	if p, ok := c.p.(Prober); ok {
		for _, err := range p.Probe(ctx) {
			c.wrong("%w", err)
		}
	}
}

// list: what is there is listed, once, with words that are known.
func (c *check) list(ctx context.Context) {
	last, of, backwards := 0, 0, false
	l, err := c.p.List(ctx, func(read, total int) { last, of, backwards = read, total, backwards || read < last })
	switch {
	case err != nil:
		c.wrong("%w", err)
		return
	case l == nil:
		c.wrong("no listing and no error")
		return
	}
	c.listing = l
	if l.Read.IsZero() || c.p.Source() == "" {
		c.wrong("it does not say when (%v) or what (%q) was read", l.Read, c.p.Source())
	}
	if backwards || len(l.Items) > 0 && last == 0 || of != 0 && last > of {
		c.wrong("its progress ended with %d of %d", last, of)
	}
	if len(l.Items) > most {
		c.wrong("%d items, more than %d", len(l.Items), most)
	}
	for _, trouble := range l.Troubles {
		c.note(trouble)
	}
	seen := map[providers.Key]bool{}
	for i := range l.Items {
		c.refused(Words(&l.Items[i]))
		if seen[l.Items[i].Key] {
			c.wrong("%s comes twice", l.Items[i].Key)
		}
		seen[l.Items[i].Key] = true
	}
}

// sample is the items that are looked at one by one, spread over the listing.
func (c *check) sample() []providers.Item {
	items := c.listing.Items
	step := max(1, len(items)/c.Items)
	var picked []providers.Item
	for i := 0; i < len(items) && len(picked) < c.Items; i += step {
		picked = append(picked, items[i])
	}
	return picked
}

// keys: all spellings of an item give the same bytes, which can be claimed.
func (c *check) keys(context.Context) {
	for _, item := range c.sample() {
		c.refused(Sound(c.p, item.Key))
		if got, err := c.p.Parse(item.ID); err != nil {
			c.wrong("%s, which its users call %q, can't be read: %w", item.Key, item.ID, err)
		} else if got != item.Key {
			c.wrong("%s, which its users call %q, becomes %q", item.Key, item.ID, got)
		}
		c.refused(Odd(c.p, string(item.Key)))
		c.refused(Odd(c.p, item.ID))
	}
}

// reading: an item that is read alone is the one that was listed.
func (c *check) reading(ctx context.Context) {
	for _, item := range c.sample() {
		got, err := c.p.Read(ctx, item.Key)
		switch {
		case err != nil:
			c.wrong("%s is listed, and can't be read: %w", item.Key, err)
		case got == nil:
			c.wrong("%s: no item and no error", item.Key)
		case !Same(item, *got) && !c.changed(ctx, item):
			c.wrong("%s is listed as %+v and read as %+v", item.Key, item, *got)
		}
	}
	if got, err := c.p.Read(ctx, "other:thing"); !errors.Is(err, providers.ErrNotKey) {
		c.wrong("a key of another tracker: %+v, %v instead of %w", got, err, providers.ErrNotKey)
	}
}

// changed says whether a listing has the item otherwise by now: trackers are worked with while they are looked at.
func (c *check) changed(ctx context.Context, item providers.Item) bool {
	l, err := c.p.List(ctx, nil)
	if err != nil {
		return false
	}
	i := slices.IndexFunc(l.Items, func(i providers.Item) bool { return i.Key == item.Key })
	return i < 0 || l.Items[i].Version != item.Version
}

// versions: an item that nobody changes has one version.
func (c *check) versions(ctx context.Context) {
	key := c.listing.Items[0].Key
	var seen []string
	for range 3 {
		item, err := c.p.Read(ctx, key)
		if err != nil {
			c.wrong("%w", err)
			return
		}
		seen = append(seen, item.Version)
	}
	if seen[0] != seen[1] && seen[1] != seen[2] { // one may be somebody's change
		c.wrong("%s has another version each time: %q", key, seen)
	}
}

func (c *check) missing(ctx context.Context) {
	if c.Missing == "" {
		return
	}
	if item, err := c.p.Read(ctx, c.Missing); !errors.Is(err, providers.ErrNotFound) {
		c.wrong("%s: %+v, %v instead of %w", c.Missing, item, err, providers.ErrNotFound)
	}
}

// cancelled: whoever is interrupted gets no part of a listing for the whole.
func (c *check) cancelled(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if l, err := c.p.List(ctx, nil); !errors.Is(err, context.Canceled) {
		c.wrong("a listing that was interrupted: %+v, %v", l, err)
	}
	if c.listing == nil || len(c.listing.Items) == 0 {
		return
	}
	if item, err := c.p.Read(ctx, c.listing.Items[0].Key); !errors.Is(err, context.Canceled) {
		c.wrong("a reading that was interrupted: %+v, %v", item, err)
	}
}

// atOnce: several goroutines may ask at once.
func (c *check) atOnce(ctx context.Context) {
	key := c.listing.Items[0].Key
	var group sync.WaitGroup
	errs := make([]error, 4)
	for n := range errs {
		group.Go(func() {
			item, err := c.p.Read(ctx, key)
			if err == nil && item.Key != key {
				err = fmt.Errorf("%s was asked for, and %s came", key, item.Key)
			}
			errs[n] = err
		})
	}
	group.Wait()
	c.refused(errors.Join(errs...))
}
