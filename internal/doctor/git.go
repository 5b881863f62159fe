package doctor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// oldestGit is the oldest version of git that this program works with.
var oldestGit = gitVersion{2, 31}

// gitVersion is the first two numbers of a version of git.
type gitVersion [2]int

func (v gitVersion) String() string { return fmt.Sprintf("%d.%d", v[0], v[1]) }

func (v gitVersion) before(o gitVersion) bool { return v[0] < o[0] || v[0] == o[0] && v[1] < o[1] }

// parseGitVersion reads what `git version` prints: "git version 2.39.5", with whatever a vendor adds.
func parseGitVersion(out string) (v gitVersion, full string, ok bool) {
	full, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(out), "git version "), "\n")
	numbers := strings.Split(full, ".")
	if len(numbers) < 2 {
		return v, full, false
	}
	for i := range v {
		n, err := strconv.ParseUint(numbers[i], 10, 31)
		if err != nil {
			return v, full, false
		}
		v[i] = int(n)
	}
	return v, full, true
}

// Git examines the system's git, and what of the repository's configuration it has to know; config is nil where that can't be read.
func Git(ctx Context, r *Report, git *gitexec.Git, config *gitexec.Config) {
	out, err := git.Output(ctx, "version")
	if err != nil {
		r.Fault(IDGit, err)
		return
	}
	v, full, ok := parseGitVersion(string(out))
	switch {
	case !ok:
		r.Note(IDGit, "", "git does not tell a version that this program knows how to read: %s", full)
	case v.before(oldestGit):
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

// Settings names settings that can't be used and keys that are unknown.
func Settings(r *Report, s *config.Settings) {
	bad := 0
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
