package github

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// DefaultPriorities are what labels say in a policy that says nothing of it.
func DefaultPriorities() map[string]providers.Priority {
	return map[string]providers.Priority{
		"priority:critical": providers.Urgent, "priority:urgent": providers.Urgent, "priority:high": providers.High,
		"priority:medium": providers.Medium, "priority:low": providers.Low,
		"p0": providers.Urgent, "p1": providers.High, "p2": providers.Medium, "p3": providers.Low, "p4": providers.Lowest,
	}
}

// ParsePriorities reads the policy's table from labels to urgent, high, medium, low or lowest. It returns a [*providers.BrokenError] for another word.
func ParsePriorities(table map[string]string) (map[string]providers.Priority, error) {
	words := map[string]providers.Priority{
		"urgent": providers.Urgent, "high": providers.High, "medium": providers.Medium, "low": providers.Low, "lowest": providers.Lowest,
	}
	parsed := make(map[string]providers.Priority, len(table))
	for label, word := range table {
		priority, ok := words[lower(word)]
		if !ok {
			return nil, broken("providers.github.priorities", fmt.Errorf("%q is none of urgent, high, medium, low, lowest", word))
		}
		parsed[fold(label)] = priority
	}
	return parsed, nil
}

// fold is a label's name for looking it up: in lower case, and without blanks after a colon.
func fold(label string) string {
	label = strings.ToLower(strings.TrimSpace(label))
	before, after, found := strings.Cut(label, ":")
	if !found {
		return label
	}
	return strings.TrimSpace(before) + ":" + strings.TrimSpace(after)
}

// item is an issue as the rest knows it, without what it needs and what closes it.
func (p *Provider) item(i *issue, repo Repository) providers.Item {
	r := ref{repo, i.Number}
	item := providers.Item{
		Key: r.key(), ID: fmt.Sprintf("#%d", i.Number), Title: i.Title, URL: p.page(i, r),
		Labels: slices.Clone([]string(i.Labels)), Assignees: slices.Clone([]string(i.Assignees)), Milestone: i.Milestone.Title,
		Version: version(i), Updated: i.Updated,
	}
	if !repo.same(p.repo) {
		item.ID = fmt.Sprintf("%s/%s#%d", repo.Owner, repo.Name, i.Number)
	}
	item.State, item.Status = p.state(i)
	item.Opening = opening(i)
	item.Priority = p.priority(i.Labels)
	if parent, err := p.apiRef(i.Parent, repo); err == nil && i.Parent != "" {
		item.Parent = parent.key()
	}
	return item
}

// page is where a person reads an item.
func (p *Provider) page(i *issue, r ref) string {
	if strings.HasPrefix(i.URL, "https://"+r.repo.Host+"/") {
		return i.URL
	}
	return fmt.Sprintf("https://%s/%s/%s/issues/%d", r.repo.Host, r.repo.Owner, r.repo.Name, r.number)
}

// apiRef reads an item's address at the API, or on a page.
func (p *Provider) apiRef(address string, home Repository) (ref, error) {
	if rest, found := strings.CutPrefix(address, p.client.BaseURL.String()+"repos/"); found {
		address = "https://" + home.Host + "/" + rest
	}
	return parseRef(address, home)
}

// state is how far an item has come, and GitHub's word for it.
func (p *Provider) state(i *issue) (providers.State, string) {
	var reason string
	if i.StateReason != nil {
		reason = *i.StateReason
	}
	switch {
	case i.State == "closed" && i.Pull != nil && i.Pull.Merged != "":
		return providers.Done, "merged"
	case i.State == "closed" && i.Pull != nil:
		return providers.Cancelled, "closed"
	case i.State == "closed" && (reason == "not_planned" || reason == "duplicate"):
		return providers.Cancelled, reason
	case i.State == "closed":
		return providers.Done, "closed"
	case i.Pull != nil && i.Draft:
		return providers.Started, "draft"
	case i.Pull != nil, has(i.Labels, p.started), has(i.Labels, p.review):
		return providers.Started, "open"
	default:
		return providers.Open, "open"
	}
}

// opening says whether an open issue was closed before. Of a pull request GitHub does not say.
func opening(i *issue) providers.Opening {
	switch {
	case i.State != "open" || i.Pull != nil:
		return ""
	case i.StateReason == nil:
		return providers.OpenedOnce
	case *i.StateReason == "reopened":
		return providers.OpenedAgain
	default:
		return ""
	}
}

// has says whether a label is among others. GitHub ignores case in them.
func has(labels []string, label string) bool {
	return label != "" && slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, label) })
}

// priority is the most urgent that the labels name.
func (p *Provider) priority(labels []string) providers.Priority {
	found := providers.NoPriority
	for _, l := range labels {
		if next := p.priorities[fold(l)]; next != providers.NoPriority && (found == providers.NoPriority || next < found) {
			found = next
		}
	}
	return found
}

// version changes with whatever is read of an issue. The time of its last change alone will not do: it counts seconds.
func version(i *issue) string {
	same := *i
	same.Labels, same.Assignees = slices.Sorted(slices.Values(i.Labels)), slices.Sorted(slices.Values(i.Assignees))
	data, err := json.Marshal(same)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// sorted puts items in the order of their urgency: by priority, with none last, then by number, which is the order in which they were made.
func sorted(items []providers.Item, number map[providers.Key]int) []providers.Item {
	rank := func(i providers.Item) providers.Priority {
		if i.Priority == providers.NoPriority {
			return providers.Lowest + 1
		}
		return i.Priority
	}
	slices.SortFunc(items, func(a, b providers.Item) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(number[a.Key], number[b.Key]), cmp.Compare(a.Key, b.Key))
	})
	return items
}
