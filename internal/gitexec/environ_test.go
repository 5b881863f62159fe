package gitexec

import (
	"slices"
	"strings"
	"testing"
)

func TestUnbound(t *testing.T) {
	env := []string{"A=1", "GIT_DIR=x", "GIT_NAMESPACE=n", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_DIRE=y", "LC_ALL=C", "B="}
	kept := slices.Clone(env)
	if got := Unbound(env); !slices.Equal(got, []string{"A=1", "GIT_NAMESPACE=n", "GIT_DIRE=y", "LC_ALL=C", "B="}) {
		t.Errorf("got %v", got)
	}
	if got := Unbound(env, "GIT_NAMESPACE", "LC_ALL"); !slices.Equal(got, []string{"A=1", "GIT_DIRE=y", "B="}) {
		t.Errorf("got %v", got)
	}
	if !slices.Equal(env, kept) {
		t.Errorf("the environment was changed: %v", env)
	}
}

// TestBoundKnowsGitsList fails when a new git has a variable that is not dropped.
func TestBoundKnowsGitsList(t *testing.T) {
	out, err := (&Git{}).Output(t.Context(), "rev-parse", "--local-env-vars")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(out))
	if !slices.Contains(names, "GIT_DIR") {
		t.Fatalf("git lists %v", names)
	}
	for _, name := range names {
		if !slices.Contains(bound[:], name) {
			t.Errorf("%s binds git to a repository", name)
		}
	}
}
