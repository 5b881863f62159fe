package refstore_test

import (
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestRefusedSays: a refusal has the same words each time.
func TestRefusedSays(t *testing.T) {
	reasons := map[string]string{"refs/c": "3", "refs/a": "1", "refs/b": "2", "refs/d": "4"}
	for range 20 {
		for want, e := range map[string]*refstore.RefusedError{
			"the server refused: 1":      {Reasons: reasons, Words: " \n"},
			"the server refused: closed": {Reasons: reasons, Words: "closed\n"},
			"the server refused: ":       {},
		} {
			if got := e.Error(); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	}
}
