package cligit

import (
	"slices"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// TestHooksOff: the hooks of git's configuration that hold in our repository are turned off, each once.
func TestHooksOff(t *testing.T) {
	off := hooksOff([]gitexec.Setting{
		{Key: "hook.mine.command", Value: "x"}, {Key: "hook.mine.event", Value: "pre-push"}, {Key: "hook.mine.event", Value: "reference-transaction"},
		{Key: "hook.a.b.event", Value: "pre-push"}, {Key: "hooks.mine.event", Value: "x"}, {Key: "hook.pre-push.enabled", Value: "true"},
	})
	if want := []setting{{"hook.mine.enabled", "false"}, {"hook.a.b.enabled", "false"}}; !slices.Equal(off, want) {
		t.Errorf("got %v", off)
	}
}
