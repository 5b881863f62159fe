package doctor

import (
	"github.com/git-worklease/git-worklease/hooks/install"
)

// Hooks examines whether git runs the hooks; status is nil where err says why that is not known.
func Hooks(r *Report, status *install.Status, err error) {
	if err != nil {
		r.Fault(IDHooks, err)
		return
	}
	inert := status.Inert()
	for _, s := range inert {
		next := "`git worklease hooks install`"
		if s.Snippet != "" {
			next = "`git worklease hooks status` shows what to add to " + s.SnippetFile
		}
		r.Warn(IDHooks, next, "%s is installed and does not run here: %s", s.Hook, s.Why).Details = s
	}
	active := 0
	for _, s := range status.Hooks {
		if s.State == install.Active {
			active++
		}
	}
	switch {
	case len(inert) > 0:
	case active == 0:
		r.Note(IDHooks, "`git worklease hooks install` has git look at claims", "none are installed: git commits and pushes whatever is claimed")
	default:
		r.Good(IDHooks, "git runs %s", count(active, "hook"))
	}
}
