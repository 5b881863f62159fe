package doctor

import (
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// oldestGit is the oldest version of git that this program works with.
var oldestGit = gitexec.Version{2, 31}

// Git examines the system's git, and what of the repository's configuration it has to know; config is nil where that can't be read.
func Git(ctx Context, r *Report, git *gitexec.Git, config *gitexec.Config) {
	v, full, ok, err := git.Version(ctx)
	if err != nil {
		r.Fault(IDGit, err)
		return
	}
	switch {
	case !ok:
		r.Note(IDGit, "", "git does not tell a version that this program knows how to read: %s", full)
	case v.Before(oldestGit):
		r.Warn(IDGit, "install git "+oldestGit.String()+" or later", "git %s is older than %s, the oldest that is tested", full, oldestGit)
	default:
		r.Good(IDGit, "git %s", full)
	}
	if config == nil {
		return
	}
	if config.Value("extensions.refstorage") == "reftable" {
		r.Note(IDGit, "", "this repository keeps its refs as a reftable; claims don't touch them")
	}
	if config.Value("extensions.objectformat") == "sha256" {
		r.Note(IDGit, "", "this repository's objects are sha256; where the remote's are, too, the system's git carries the claims")
	}
}

// Version examines this program's version against the policy, which is nil where it can't be read.
func Version(r *Report, running string, policy *config.Policy) {
	switch {
	case policy == nil || policy.Requires.V == "":
		r.Good(IDVersion, "git-worklease %s", running)
	case policy.Check(running) != nil:
		r.Fault(IDVersion, policy.Check(running))
	default:
		r.Good(IDVersion, "git-worklease %s; the policy requires %s", running, policy.Requires.V)
	}
}

// Settings names settings that can't be used and keys that are unknown. flaw is what is wrong with what the policy judges by.
func Settings(r *Report, s *config.Settings, flaw error) {
	bad := 0
	if flaw != nil {
		bad++
		r.Fault(IDSettings, flaw)
	}
	for _, shown := range s.All() {
		if shown.Bad != nil {
			bad++
			r.Fault(IDSettings, shown.Bad)
		}
	}
	for _, u := range s.Unknown {
		r.Warn(IDSettings, "correct or remove the key, or upgrade git-worklease", "%s: this version does not know %s", u.Origin, u.Key)
	}
	if bad == 0 && len(s.Unknown) == 0 {
		r.Good(IDSettings, "all can be used")
	}
}

// NotChecked says that the rest was left out.
func NotChecked(r *Report, what string) {
	r.Add(Finding{ID: IDNotChecked, Level: Note, What: "not checked: " + what, Exit: fault.OK})
}
