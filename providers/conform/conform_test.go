package conform

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// tracker is one in memory, which does wrong what its fault says.
type tracker struct {
	mu    sync.Mutex
	fault string
	items []providers.Item
	reads int
}

func newTracker(fault string) *tracker {
	item := func(key, id string) providers.Item {
		return providers.Item{Key: providers.Key(key), ID: id, Title: "t", State: providers.Open, Status: "todo", Version: "1"}
	}
	w := &tracker{fault: fault, items: []providers.Item{item("mem:1", "1"), item("mem:2", "#2")}}
	switch first := &w.items[0]; fault {
	case "twice":
		w.items[1] = w.items[0]
	case "key":
		first.Key = "mem:1 "
	case "scheme":
		first.Key = "meme:1"
	case "state":
		first.State = "new"
	case "opening":
		first.Opening = "twice"
	case "priority":
		first.Priority = 9
	case "status":
		first.Status = ""
	case "id":
		first.ID = "2"
	case "needs":
		first.Needs = []providers.Need{{Kind: "blocks"}}
	case "none":
		w.items = nil
	case "many":
		w.items = make([]providers.Item, most+1)
		for i := range w.items {
			w.items[i] = item("mem:1", "1")
		}
	case "busy":
		first.State = providers.Started
	}
	return w
}

func (w *tracker) Name() string { return "mem" }

func (w *tracker) Source() string {
	if w.fault == "source" {
		return ""
	}
	return "memory"
}

func (w *tracker) Parse(text string) (providers.Key, error) {
	if w.fault == "lax" {
		return providers.Key("mem:" + strings.TrimPrefix(text, "mem:")), nil
	}
	if w.fault == "odd error" && text == "" {
		return "", providers.ErrUnavailable
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(text), "mem:"), "#")
	if rest == "" || strings.Trim(rest, "0123456789") != "" {
		return "", providers.ErrNotKey
	}
	return providers.Key("mem:" + rest), nil
}

func (w *tracker) List(ctx context.Context, report func(read, of int)) (*providers.Listing, error) {
	if ctx.Err() != nil && w.fault != "interrupt" {
		return nil, ctx.Err()
	}
	if w.fault == "unreadable" {
		return nil, providers.ErrUnavailable
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &providers.Listing{Items: slices.Clone(w.items), Read: time.Unix(1, 0)}
	if w.fault == "troubles" {
		l.Troubles = []error{providers.ErrBroken}
	}
	for i := range l.Items {
		if report != nil && w.fault != "silent" {
			report(i+1, len(l.Items))
		}
	}
	if w.fault == "listed otherwise" {
		l.Items[1].Title = "u"
	}
	return l, nil
}

func (w *tracker) Read(ctx context.Context, key providers.Key) (*providers.Item, error) {
	if ctx.Err() != nil && w.fault != "interrupt" {
		return nil, ctx.Err()
	}
	if key.Scheme() != "mem" && w.fault != "foreign" {
		return nil, providers.ErrNotKey
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.index(key)
	if i < 0 || w.fault == "unread" {
		if w.fault == "missing" {
			return nil, providers.ErrUnavailable
		}
		return nil, providers.ErrNotFound
	}
	item := w.items[i]
	if w.reads++; w.fault == "restless" {
		item.Version = strings.Repeat("1", w.reads)
	}
	return &item, nil
}

func (w *tracker) index(key providers.Key) int {
	return slices.IndexFunc(w.items, func(i providers.Item) bool { return i.Key == key })
}

func (w *tracker) Start(_ context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	item := &w.items[w.index(key)]
	mark := providers.Mark{Status: "doing", WasStatus: "todo", Assigned: []string{by.Agent}}
	switch {
	case w.fault == "unsupported":
		return providers.Mark{}, providers.ErrUnsupported
	case w.fault == "idle":
		return providers.Mark{}, nil
	case item.Status == "doing" && w.fault != "again":
		return providers.Mark{}, nil
	}
	item.Status, item.State, item.Assignees = "doing", providers.Started, []string{by.Agent}
	if w.fault != "same version" {
		item.Version += "s"
	}
	if w.fault == "unmarked" {
		mark.Assigned = nil
	}
	return mark, nil
}

func (w *tracker) Plan(_ context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	mark := providers.Mark{Status: "doing", WasStatus: "todo", Assigned: []string{by.Agent}}
	switch {
	case w.fault == "unplanned":
		return providers.Mark{}, providers.ErrUnsupported
	case w.fault == "plan fails":
		return providers.Mark{}, providers.ErrUnavailable
	case w.fault == "planned in part":
		mark.Assigned = nil
	case w.items[w.index(key)].Status == "doing" && w.fault != "planned again":
		return providers.Mark{}, nil
	}
	return mark, nil
}

func (w *tracker) Unstart(_ context.Context, key providers.Key, _ providers.Mark) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	item := &w.items[w.index(key)]
	switch w.fault {
	case "stuck":
	case "stays":
		return providers.ErrUnavailable
	default:
		item.Status, item.State, item.Assignees = "todo", providers.Open, nil
	}
	item.Version += "u"
	return nil
}

func (w *tracker) Probe(context.Context) []error {
	if w.fault == "probe" {
		return []error{errors.New("bad manners")}
	}
	return nil
}

// TestFaults: a tracker without faults has no findings, and each fault is found by the check that is for it.
func TestFaults(t *testing.T) {
	for fault, want := range map[string][]string{
		"":                 nil,
		"probe":            {`handshake: bad manners`},
		"unreadable":       {"listing: the tracker is unavailable", "note keys: not looked at, since there are no items"},
		"troubles":         {"note listing: the tracker's data is broken"},
		"source":           {`listing: it does not say when`},
		"silent":           {"listing: its progress ended with 0 of 0"},
		"twice":            {"listing: mem:1 comes twice"},
		"many":             {"listing: 100001 items, more than 100000", "listing: 99981 more"},
		"state":            {`listing: mem:1 has the state "new"`},
		"opening":          {`listing: mem:1 has the opening "twice"`},
		"priority":         {"listing: mem:1 has the priority 9"},
		"status":           {`listing: mem:1 has no id ("1"), version ("1") or status ("")`},
		"needs":            {"listing: mem:1 needs "},
		"none":             {"note keys: not looked at, since there are no items", "note reading: not looked at"},
		"key":              {`keys: "mem:1 " can't be claimed: `},
		"scheme":           {`keys: "meme:1" is not of "mem"`},
		"id":               {`keys: mem:1, which its users call "2", becomes "mem:2"`},
		"lax":              {`keys: "mem:1\n" can't be claimed`},
		"odd error":        {`keys: "": the tracker is unavailable`},
		"unread":           {"reading: mem:1 is listed, and can't be read: no such item", "versions: no such item", "at once: no such item"},
		"listed otherwise": {"reading: mem:2 is listed as "},
		"foreign":          {"reading: a key of another tracker: "},
		"restless":         {"versions: mem:1 has another version each time: "},
		"missing":          {"missing: mem:404: "},
		"interrupt":        {"cancelled: a listing that was interrupted: ", "cancelled: a reading that was interrupted: "},
		"unsupported":      {"announcing: not supported by the tracker"},
		"busy":             {"announcing: mem:1 is not an open item that nobody is assigned to: started"},
		"idle":             {"announcing: work on mem:1 was announced, and nothing changed"},
		"unplanned":        nil,
		"plan fails":       {"announcing: the tracker is unavailable"},
		"planned in part":  {`announcing: it planned to change {Status:doing WasStatus:todo Assigned:[] Labels:[]} and changed {Status:doing WasStatus:todo Assigned:[worklease-check] Labels:[]}`},
		"planned again":    {"announcing: announced, it plans to change {Status:doing "},
		"again":            {"announcing: announced a second time, it changed "},
		"same version":     {`announcing: what was announced did not change the version "1"`},
		"unmarked":         {`announcing: assigned to ["worklease-check"] after [] and []`},
		"stuck":            {"announcing: taken back, it is ", "announcing: taken back twice, it is "},
		"stays":            {"announcing: taken back: the tracker is unavailable"},
	} {
		t.Run(fault, func(t *testing.T) {
			var found []string
			var begun []string
			for _, f := range Check(t.Context(), newTracker(fault), Options{Announce: "mem:1", Missing: "mem:404", Begin: func(check string) { begun = append(begun, check) }}) {
				text := f.Check + ": " + f.Err.Error()
				if f.Note {
					text = "note " + text
				}
				found = append(found, text)
			}
			for _, w := range want {
				if !slices.ContainsFunc(found, func(text string) bool { return strings.HasPrefix(text, w) }) {
					t.Errorf("not found: %s\nbut %q", w, found[:min(10, len(found))])
				}
			}
			if len(want) == 0 && len(found) > 0 || len(begun) != 9 {
				t.Errorf("%q of %q", found, begun)
			}
		})
	}
}

// TestReadOnly: without an item to announce work on, nothing is written, and what is not asked for is not looked at.
func TestReadOnly(t *testing.T) {
	w := newTracker("")
	if found := Check(t.Context(), struct{ providers.Provider }{w}, Options{}); len(found) != 0 {
		t.Errorf("%v", found)
	}
	if !slices.EqualFunc(w.items, newTracker("").items, Same) {
		t.Errorf("%+v", w.items)
	}
	found := Check(t.Context(), struct{ providers.Provider }{w}, Options{Announce: "mem:1"})
	if len(found) != 1 || !errors.Is(found[0].Err, providers.ErrUnsupported) {
		t.Errorf("%v", found)
	}
}

// TestWithoutPlans: a tracker need not know what it would change.
func TestWithoutPlans(t *testing.T) {
	if found := Check(t.Context(), struct{ providers.Starter }{newTracker("")}, Options{Announce: "mem:1", Missing: "mem:404"}); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

// TestInterrupted: a check that is interrupted says so, and has not found fault with what it did not look at.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	found := Check(ctx, newTracker(""), Options{Begin: func(check string) {
		if check == "keys" {
			cancel()
		}
	}})
	if len(found) != 1 || found[0].Check != "reading" || !errors.Is(found[0].Err, context.Canceled) {
		t.Errorf("%v", found)
	}
}
