package fault

import (
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"task:demo": "task:demo", "a=b": "a=b", "": "''", "it's": `'it'\''s'`, "~x": "'~x'", "=ls": "'=ls'", "a\nb": `'a\nb'`,
	} {
		if got := Quote(word); got != want {
			t.Errorf("Quote(%q) = %s, want %s", word, got, want)
		}
	}
}

// TestPendingVerb: the verb of a write that was left behind comes from a file, and is shown like anything that does.
func TestPendingVerb(t *testing.T) {
	for _, busy := range []bool{false, true} {
		got := Explain(&lease.PendingError{Verb: "a\x1b[2J", Resources: []lease.Resource{"task:a"}, Busy: busy}, Scene{}).Message
		want := `the outcome of the a\u001b[2J of task:a is unknown`
		if busy {
			want = `another process of this clone is in the middle of a a\u001b[2J of task:a`
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
