package backlogmd

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// task is a file with an item.
type task struct {
	item providers.Item
	// id is the item's canonical ID, and file where it is, relative to the top of the work tree.
	id, file string
	// folder is the one of the project's that it is in.
	folder string
	// rank counts from the most urgent priority; those without one come last.
	rank int
	// ordinal is the place that somebody gave it; nil where nobody did.
	ordinal *float64
	created string
}

// What is wrong with a task.
var (
	errNoID = errors.New("it has no ID")
	errKind = errors.New("its value can't be understood")
)

// newTask makes sense of a file.
func (p *Provider) newTask(folder, name string, data []byte) (*task, int, error) {
	fields, line, err := parseMatter(data)
	if err != nil {
		return nil, line, err
	}
	t := &task{folder: folder, file: path.Join(p.place.dir, folder, name), rank: len(p.config.priorities)}
	item := &t.item
	var parent, ordinal string
	for _, f := range fields {
		switch f.key {
		case "id":
			item.ID, err = f.scalar()
		case "title":
			item.Title, err = f.scalar()
		case "status":
			item.Status, err = f.scalar()
		case "priority":
			err = p.setPriority(t, f)
		case "assignee":
			item.Assignees, err = f.names()
		case "labels":
			item.Labels = f.list
		case "dependencies":
			err = p.setNeeds(item, f)
		case "milestone":
			item.Milestone, err = f.scalar()
		case "parent_task_id":
			parent, err = f.scalar()
		case "ordinal":
			ordinal, err = f.scalar()
		case "created_date":
			t.created = f.text
		case "updated_date":
			item.Updated = parseTime(f.text)
		}
		if err != nil {
			return nil, 1, fmt.Errorf("%s: %w", f.key, err)
		}
	}
	if number, err := strconv.ParseFloat(ordinal, 64); err == nil && number == number {
		t.ordinal = &number
	}
	if id := p.idInFile(parent); id != "" {
		item.Parent = keyOf(id)
	}
	return t, 1, p.complete(t, data)
}

// complete checks the ID of a task, and sets what follows from all of it.
func (p *Provider) complete(t *task, data []byte) error {
	item := &t.item
	if item.ID == "" {
		return errNoID
	}
	if t.id = p.idInFile(item.ID); t.id == "" {
		return fmt.Errorf("%q is no ID of this project: expected %s-7", item.ID, strings.ToUpper(p.config.prefix))
	}
	if !strings.Contains(item.ID, "-") {
		item.ID = p.config.prefix + "-" + item.ID
	}
	item.ID = strings.ToUpper(strings.TrimSpace(item.ID))
	item.Key = keyOf(t.id)
	item.URL = t.file
	item.State = p.stateOf(t)
	sum := sha256.New()
	sum.Write([]byte(t.file + "\n" + string(item.State) + "\n"))
	sum.Write(data)
	item.Version = hex.EncodeToString(sum.Sum(nil)[:16])
	return nil
}

// idInFile reads an ID that is in a file: a number alone is that of a task, but only where the prefix is the program's own, as it is for the program.
func (p *Provider) idInFile(text string) string {
	id, _ := canonical(strings.TrimSpace(text), p.config.prefix, p.config.prefix == "task")
	return id
}

// stateOf goes by the folder first: what is in that of completed tasks is done, whatever its status says.
func (p *Provider) stateOf(t *task) providers.State {
	state := p.states.state(t.item.Status)
	switch t.folder {
	case completedFolder:
		return providers.Done
	case archiveFolder, archiveDraftsFolder:
		if state != providers.Done {
			return providers.Cancelled
		}
	case draftsFolder:
		return providers.Waiting
	}
	return state
}

// setPriority spreads the project's priorities over those that all trackers have, which keeps their order.
func (p *Provider) setPriority(t *task, f field) error {
	text, err := f.scalar()
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	rank := slices.IndexFunc(p.config.priorities, func(w string) bool { return strings.Join(strings.Fields(strings.ToLower(w)), " ") == text })
	if err != nil || text == "" || rank < 0 {
		return err
	}
	t.rank = rank
	switch n := len(p.config.priorities); n {
	case 1:
		t.item.Priority = providers.Medium
	case 2:
		t.item.Priority = []providers.Priority{providers.High, providers.Low}[rank]
	case 3:
		t.item.Priority = providers.High + providers.Priority(rank)
	case 4:
		t.item.Priority = providers.Urgent + providers.Priority(rank)
	default:
		t.item.Priority = providers.Urgent + providers.Priority(rank*int(providers.Lowest)/n)
	}
	return nil
}

// setNeeds reads dependencies. One that is no ID keeps its text, and is never there.
func (p *Provider) setNeeds(item *providers.Item, f field) error {
	needs, err := f.names()
	for _, text := range needs {
		need := providers.Need{Text: text, Kind: "dependency"}
		if id := p.idInFile(text); id != "" {
			need.Key = keyOf(id)
		}
		item.Needs = append(item.Needs, need)
	}
	return err
}

// scalar is the value of a key that has one.
func (f *field) scalar() (string, error) {
	if f.kind == isList || f.kind == isOther {
		return "", errKind
	}
	return f.text, nil
}

// names is the value of a key that has a list, or one value.
func (f *field) names() ([]string, error) {
	switch f.kind {
	case isList:
		return f.list, nil
	case isScalar:
		if f.text == "" {
			return nil, nil
		}
		return []string{f.text}, nil
	case isNull:
		return nil, nil
	default:
		return nil, errKind
	}
}

// timeForm is how the backlog program writes a time, in UTC.
const timeForm = "2006-01-02 15:04"

func parseTime(text string) time.Time {
	for _, form := range []string{timeForm, "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil {
			return at
		}
	}
	return time.Time{}
}

// compare orders tasks: the most urgent first, then as somebody has put them in order, the oldest, and by number.
func compare(a, b *task) int {
	if c := cmp.Compare(a.rank, b.rank); c != 0 {
		return c
	}
	switch {
	case a.ordinal != nil && b.ordinal != nil && *a.ordinal != *b.ordinal:
		return cmp.Compare(*a.ordinal, *b.ordinal)
	case (a.ordinal == nil) != (b.ordinal == nil):
		if a.ordinal != nil {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.created, b.created), compareIDs(a.id, b.id))
}

// compareIDs compares canonical IDs by their numbers, one after another: a part comes after the whole.
func compareIDs(a, b string) int {
	prefixA, numbersA, _ := strings.Cut(a, "-")
	prefixB, numbersB, _ := strings.Cut(b, "-")
	if prefixA != prefixB {
		return cmp.Compare(prefixA, prefixB)
	}
	return slices.CompareFunc(strings.Split(numbersA, "."), strings.Split(numbersB, "."), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
}
