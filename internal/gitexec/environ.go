package gitexec

import (
	"os"
	"slices"
	"strings"
)

// Environ is the environment that git is run in, before what keeps it from asking; of nil the process's own.
func (g *Git) Environ() []string {
	if g != nil && g.Env != nil {
		return g.Env
	}
	return os.Environ()
}

// bound are the variables that bind git to one repository or hand it settings, as `git rev-parse --local-env-vars` lists them, and the one by
// which a receiving git forbids its hooks to move refs. A hook of the user's repository has them set.
var bound = [...]string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_OBJECT_DIRECTORY",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS",
	"GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_QUARANTINE_PATH",
}

// Unbound is a copy of env without the variables that bind git to one repository or hand it settings, and without those named by more.
func Unbound(env []string, more ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(bound[:], name) || slices.Contains(more, name) ||
			strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
	})
}
