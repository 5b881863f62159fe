package external

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/providers"
)

// item is an item as the program writes it.
type item struct {
	Key       string   `json:"key"`
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	URL       string   `json:"url"`
	State     string   `json:"state"`
	Opening   string   `json:"opening"`
	Status    string   `json:"status"`
	Priority  string   `json:"priority"`
	Labels    []string `json:"labels"`
	Assignees []string `json:"assignees"`
	Milestone string   `json:"milestone"`
	Parent    string   `json:"parent"`
	Needs     []need   `json:"needs"`
	Pulls     []pull   `json:"pulls"`
	Version   string   `json:"version"`
	Updated   string   `json:"updated"`
}

type need struct {
	Key   string `json:"key"`
	Text  string `json:"text"`
	Kind  string `json:"kind"`
	State string `json:"state"`
}

type pull struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Draft bool   `json:"draft"`
}

var priorities = map[string]providers.Priority{
	"": providers.NoPriority, "urgent": providers.Urgent, "high": providers.High, "medium": providers.Medium, "low": providers.Low, "lowest": providers.Lowest,
}

// key is the key that the program writes as text.
func (h *Hello) key(text string) (providers.Key, error) {
	rest, ours := strings.CutPrefix(text, h.Name+":")
	if !ours {
		return "", fmt.Errorf("the key %q does not begin with %q", excerptText(text), h.Name+":")
	}
	if why := h.Keys.fault(rest); why != "" {
		return "", fmt.Errorf("the key %q %s", excerptText(text), why)
	}
	return providers.Key(text), nil
}

// item reads an item. Its error names the item, as far as it has a name, and what is wrong with it.
func (h *Hello) item(raw json.RawMessage) (*providers.Item, error) {
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("an item is not UTF-8: %s", excerpt(raw))
	}
	var i item
	if err := json.Unmarshal(raw, &i); err != nil {
		return nil, fmt.Errorf("an item can't be read: %s: %s", unreadable(err), excerpt(raw))
	}
	key, err := h.key(i.Key)
	if err != nil {
		return nil, fmt.Errorf("an item can't be named: %w: %s", err, excerpt(raw))
	}
	read, err := h.fill(key, &i)
	if err != nil {
		return nil, fmt.Errorf("item %s: %w", key, err)
	}
	return read, nil
}

// fill makes an item of what the program has said of it.
func (h *Hello) fill(key providers.Key, i *item) (*providers.Item, error) {
	state, err := stateOf(i.State)
	if err != nil {
		return nil, err
	}
	priority, known := priorities[i.Priority]
	if !known {
		return nil, fmt.Errorf("priority %q is none of urgent, high, medium, low, lowest", excerptText(i.Priority))
	}
	opening := providers.Opening(i.Opening)
	if opening != "" && opening != providers.OpenedOnce && opening != providers.OpenedAgain {
		return nil, fmt.Errorf("opening %q is none of once, again", excerptText(i.Opening))
	}
	read := &providers.Item{
		Key: key, ID: orElse(i.ID, string(key[len(h.Name)+1:])), Title: i.Title, URL: i.URL, State: state, Opening: opening, Status: orElse(i.Status, string(state)),
		Priority: priority, Labels: i.Labels, Assignees: i.Assignees, Milestone: i.Milestone, Version: i.Version,
	}
	if len(read.ID) > maxKey || len(read.Version) > maxKey {
		return nil, fmt.Errorf("its id or version has more than %d bytes", maxKey)
	}
	if i.Updated != "" {
		if read.Updated, err = time.Parse(time.RFC3339, i.Updated); err != nil {
			return nil, fmt.Errorf("updated is %q and not such as 2006-01-02T15:04:05Z", excerptText(i.Updated))
		}
	}
	if i.Parent != "" {
		if read.Parent, err = h.key(i.Parent); err != nil {
			return nil, fmt.Errorf("its parent: %w", err)
		}
	}
	for _, n := range i.Needs {
		needed, err := h.need(n)
		if err != nil {
			return nil, err
		}
		read.Needs = append(read.Needs, needed)
	}
	for _, p := range i.Pulls {
		read.Pulls = append(read.Pulls, providers.Pull(p))
	}
	if read.Version == "" {
		read.Version, err = digest(read)
	}
	return read, err
}

// need reads a dependency. A key that is of another tracker, or none, is only text.
func (h *Hello) need(n need) (providers.Need, error) {
	read := providers.Need{Text: orElse(n.Text, n.Key), Kind: n.Kind}
	if read.Text == "" {
		return read, fmt.Errorf("it needs what has neither key nor text")
	}
	read.Key, _ = h.key(n.Key) // without it the text says what was found
	var err error
	if n.State != "" {
		read.State, err = stateOf(n.State)
	}
	return read, err
}

func stateOf(word string) (providers.State, error) {
	switch s := providers.State(word); s {
	case providers.Open, providers.Started, providers.Waiting, providers.Done, providers.Cancelled:
		return s, nil
	}
	return "", fmt.Errorf("state %q is none of open, started, waiting, done, cancelled", excerptText(word))
}

// digest is a version for an item of a tracker that has none: it differs where what is shown does. A listing may know less of others' states.
func digest(i *providers.Item) (string, error) {
	shown := *i
	shown.Needs = slices.Clone(i.Needs)
	for n := range shown.Needs {
		shown.Needs[n].State = ""
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// byPriority orders items by priority alone, so that a stable sort leaves the program's order among equals.
func byPriority(a, b providers.Item) int { return rank(a.Priority) - rank(b.Priority) }

func rank(p providers.Priority) int {
	if p == providers.NoPriority {
		return math.MaxInt32
	}
	return int(p)
}
