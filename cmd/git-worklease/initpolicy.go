package main

import (
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// policyRules are what a team may want, for it to choose from.
const policyRules = `
[enforce]                   # off, warn or block
commit = "warn"
push   = "block"

# Which claims work needs. The first is an example; take out the # where it fits.
#
# [[rule]]                  # a branch needs a claim on the issue in its name
# branch = "issue/{id}-*"
# claim  = "@ISSUE@"
#
# [[rule]]                  # files that two changes can't share: each needs a path claim
# paths = ["db/migrations/**"]
# claim = "path"
#
# [[rule]]                  # whatever is changed there, some claim must be held
# paths = ["src/**"]
# claim = "any"
`

// newPolicy is a policy file from what was found: where the claims are, and which tracker the issues are in.
func (w *work) newPolicy(id string) string {
	var b strings.Builder
	b.WriteString("# The policy of git worklease: git worklease --help\nversion = 1\n")
	if id != "" {
		fmt.Fprintf(&b, "authority = %q\n", id)
	} else if w.url != "" {
		b.WriteString("# authority = the ID of the authority that is made\n")
	}
	if w.remote.Name == "" && w.url != "" && gitexec.Redact(w.url) == w.url && strings.Contains(w.url, "://") {
		fmt.Fprintf(&b, "remote = %q\n", w.url)
	}
	if prefix := w.settings.Prefix; !prefix.Origin.IsDefault() {
		fmt.Fprintf(&b, "prefix = %q\n", prefix.V)
	}
	issue := "task:{id}"
	if repo := gitHub(w.url); repo != "" {
		issue = "github:" + repo + "#{id}"
	}
	b.WriteString(strings.ReplaceAll(policyRules, "@ISSUE@", issue))
	return b.String()
}
