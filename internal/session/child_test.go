package session_test

import (
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
)

func TestIsAncestor(t *testing.T) {
	cases := []struct {
		a, b string
		want bool
	}{
		{"orch", "orch/7", true}, {"orch", "orch/7/x", true}, {"orch/7", "orch/7/x", true},
		{"orch", "orch", false}, {"orch/7", "orch", false}, {"orch", "orchid", false}, {"orch", "Orch/7", false}, {"orch/7", "orch/70", false},
		{"", "/x", false}, {"", "", false}, {"a", "b/a/c", false},
	}
	for _, c := range cases {
		if got := session.IsAncestor(c.a, c.b); got != c.want {
			t.Errorf("%q above %q: %v", c.a, c.b, got)
		}
	}
}
