package queue

import (
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

// Judge joins items with what is known, in their order.
func Judge(items []providers.Item, f *Facts) []Entry {
	j := &judge{Facts: f, items: make(map[providers.Key]*providers.Item, len(items)), claims: make(map[providers.Key]*lease.View, len(f.Claims))}
	for i := range items {
		j.items[items[i].Key] = &items[i]
	}
	for i := range f.Claims {
		j.claims[providers.Key(f.Claims[i].Resource)] = &f.Claims[i]
	}
	j.cyclic = cycles(items)
	entries := make([]Entry, len(items))
	for i := range items {
		entries[i] = j.entry(items[i])
	}
	return entries
}

type judge struct {
	*Facts
	items  map[providers.Key]*providers.Item
	claims map[providers.Key]*lease.View
	cyclic map[providers.Key]int
}

func (j *judge) entry(item providers.Item) Entry {
	e := Entry{Item: item, Claim: j.claims[item.Key]}
	e.Mine = e.Claim != nil && e.Claim.Mine
	if item.State.Closed() {
		e.Why = append(e.Why, Reason{Kind: Closed, Who: item.Status})
		return e
	}
	e.Why = append(e.Why, j.claimed(e.Claim)...)
	e.Why = append(e.Why, j.begun(&item, e.Claim)...)
	if !j.Again {
		e.Why = append(e.Why, j.answered(&item, e.Claim)...)
	}
	for _, need := range item.Needs {
		if r, waits := j.waits(&item, need); waits {
			e.Why = append(e.Why, r)
		}
	}
	return e
}

// claimed says who has the item's claim. One that this session could take over is no reason: that is how work goes on that a dead agent has left.
func (j *judge) claimed(v *lease.View) []Reason {
	switch {
	case j.Blind:
		return []Reason{{Kind: Unknown}}
	case v == nil || v.Takeable:
		return nil
	case v.State == lease.StandingHeld:
		return []Reason{{Kind: Held, Who: v.Record.Holder.String()}}
	case v.State == lease.StandingReserved:
		return []Reason{{Kind: Reserved, Who: v.Record.Release.ReservedFor}}
	default:
		return []Reason{{Kind: Unknown, Who: string(v.State)}}
	}
}

// begun judges what the tracker says of who works on an item. What its last claim has announced itself is left out of that.
func (j *judge) begun(item *providers.Item, v *lease.View) []Reason {
	mark := markOf(v)
	others := slices.DeleteFunc(slices.Clone(item.Assignees), func(name string) bool { return slices.Contains(mark.Assigned, name) })
	if len(others) > 0 && !slices.ContainsFunc(others, j.isMe) {
		return []Reason{{Kind: Assigned, Who: strings.Join(others, ", ")}}
	}
	switch {
	case item.State == providers.Waiting:
		return []Reason{{Kind: NotYet, Who: item.Status}}
	case item.State == providers.Started && len(others) == 0 && (mark.Status == "" || mark.Status != item.Status):
		return []Reason{{Kind: Begun, Who: item.Status}}
	default:
		return nil
	}
}

func markOf(v *lease.View) providers.Mark {
	if v == nil {
		return providers.Mark{}
	}
	return MarkOf(v.Record)
}

// isMe says whether a tracker's name is this agent's. Trackers differ in case and in a leading @.
func (j *judge) isMe(name string) bool {
	name = strings.TrimPrefix(name, "@")
	return strings.EqualFold(name, j.Agent) || slices.ContainsFunc(j.Names, func(n string) bool { return strings.EqualFold(n, name) })
}

// answered says what shows that the work has been done already, though the item is still open.
func (j *judge) answered(item *providers.Item, v *lease.View) []Reason {
	var why []Reason
	if v != nil && v.State == lease.StandingReleased && v.Record.Release != nil && !j.reopened(item, v.Record) {
		if outcome := v.Record.Release.Outcome; outcome == lease.OutcomeDone || outcome == lease.OutcomeReview {
			why = append(why, Reason{Kind: Answered, Who: v.Record.Holder.String(), Name: string(outcome)})
		}
	}
	for _, pull := range item.Pulls {
		why = append(why, Reason{Kind: PullRequest, Name: pull.ID})
	}
	if j.Branches != nil {
		for _, branch := range j.Branches.Of[item.Key] {
			if !branch.Merged {
				why = append(why, Reason{Kind: Unmerged, Name: branch.Name})
			}
		}
	}
	return why
}

// reopened says whether work that was answered is wanted again: the tracker says that the item was closed and opened again since it was claimed, or, where
// all clones ask the same, has put it back from what the claim had announced, or the branch that was to be reviewed is gone without having been merged.
func (j *judge) reopened(item *providers.Item, r *lease.Record) bool {
	mark := MarkOf(r)
	back := mark.Status != "" && item.State == providers.Open && item.Status != mark.Status && !ofClone(item)
	if back || item.Opening == providers.OpenedAgain && openingOf(r) == providers.OpenedOnce {
		return true
	}
	branch, tip := r.Meta[MetaBranch], r.Meta[MetaTip]
	return j.Branches != nil && r.Release.Outcome == lease.OutcomeReview && branch != "" && tip != "" && !j.Branches.Has(branch) && j.Branches.Dropped(tip)
}

// ofClone says whether an item is this clone's copy, as files of the work tree are: what it says may be from before a claim that another clone has answered.
func ofClone(item *providers.Item) bool { return !strings.Contains(item.URL, "://") }

// waits says whether an item has to wait for another, and why.
func (j *judge) waits(item *providers.Item, need providers.Need) (Reason, bool) {
	r := Reason{Kind: Needs, Key: need.Key, Name: need.Text}
	if need.Key == "" {
		r.Kind = Foreign
		return r, true
	}
	state := need.State
	if known := j.items[need.Key]; known != nil {
		state = known.State
	}
	switch {
	case state.Closed():
		return r, false
	case j.cyclic[item.Key] != 0 && j.cyclic[item.Key] == j.cyclic[need.Key]:
		r.Kind = Cycle
	case state != "":
		r.Who = string(state)
	case j.Schemes[need.Key.Scheme()]:
		r.Kind = Missing
	default:
		r.Kind = Foreign
	}
	return r, true
}
