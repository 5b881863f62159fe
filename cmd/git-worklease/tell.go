package main

import (
	"time"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// tell puts a notice of package lease into words.
func (a *app) tell(n lease.Notice) {
	switch n.Kind {
	case lease.NoticeClock:
		direction := "behind"
		if n.Offset < 0 {
			direction = "ahead of"
		}
		offset := n.Offset
		if offset.Abs() > 2*time.Minute { // it is measured to a second, and "9 min" would be a poor word for 9 min 59 s
			offset = offset.Round(time.Minute)
		}
		a.notice("this machine's clock is %s %s the server's; claims are judged by the server's, but set yours right", term.Span(offset), direction)
	case lease.NoticeLate:
		a.notice("%s: expired %s ago, nobody took it", names(n.Resources), term.Span(n.Offset))
	case lease.NoticeSettled:
		a.notice("an earlier %s of %s has landed after all", term.Clean(string(n.Verb)), names(n.Resources))
	case lease.NoticeLost:
		a.notice("%s", a.judge(n.Err).Message)
	case lease.NoticeAgain:
		a.notice("%s: renewed by another process just now, so the %s is tried again", names(n.Resources), term.Clean(string(n.Verb)))
	case lease.NoticeWaits:
		a.notice("%s: another process of this clone is pushing or renewing, and the %s waits for it", names(n.Resources), term.Clean(string(n.Verb)))
	case lease.NoticeRest:
		a.notice("%s: could not be given back, the next command tries again: %s", names(n.Resources), term.Clean(n.Err.Error()))
	case lease.NoticeGivenBack:
		if n.Err == nil {
			a.notice("%s: taken just when the wait was interrupted, and given back", names(n.Resources))
			return
		}
		a.notice("%s: taken just when the wait was interrupted, and could not be given back; git worklease release ends it: %s", names(n.Resources), term.Clean(n.Err.Error()))
	case lease.NoticeState:
		a.notice("what was seen could not be remembered: %s", term.Clean(n.Err.Error()))
	default:
		a.notice("%s", term.Clean(string(n.Kind)))
	}
}

// names lists resources for people.
func names(resources []lease.Resource) string {
	list := ""
	for i, r := range resources {
		if i > 0 {
			list += ", "
		}
		list += term.Clean(string(r))
	}
	return list
}
