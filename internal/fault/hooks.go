package fault

import (
	"errors"
	"slices"

	"github.com/git-worklease/git-worklease/hooks/install"
)

// tellInert says what helps where another installation does not.
func tellInert(f *Fault, err error, _ Scene) {
	var e *install.InertError
	if !errors.As(err, &e) {
		return
	}
	switch {
	case slices.ContainsFunc(e.Spots, func(s install.Spot) bool { return s.Snippet != "" }):
		f.Hint = "add what is shown to the files that it names, or have whoever keeps them do it"
	case !e.Folder.Off:
	case e.Folder.Scope == "local":
		f.Hint = "`git config --unset core.hooksPath` has git look where it looks by itself, and then `git worklease hooks install`"
	default:
		f.Hint = "`git config core.hooksPath \"$(git rev-parse --path-format=absolute --git-common-dir)/hooks\"` gives this repository its own, and then `git worklease hooks install`"
	}
}
