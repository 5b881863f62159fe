package server

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

const (
	zero = "0000000000000000000000000000000000000000"
	one  = "1111111111111111111111111111111111111111"
)

func TestReadUpdates(t *testing.T) {
	t.Parallel()
	got, format, err := readUpdates(strings.NewReader(zero + " " + one + " refs/heads/a\n" + one + " " + zero + " refs/heads/b\n" + zero + " ref:refs/heads/a HEAD\n"))
	want := []update{{ref: "refs/heads/a", next: one}, {ref: "refs/heads/b"}, {ref: "HEAD", symbolic: true}}
	if err != nil || format != refstore.SHA1 || !slices.Equal(got, want) {
		t.Errorf("%v, %s, %v", got, format, err)
	}
	long := strings.Repeat("2", 64)
	if _, format, err := readUpdates(strings.NewReader(long + " " + long + " refs/heads/a\n")); err != nil || format != refstore.SHA256 {
		t.Errorf("%s, %v", format, err)
	}
	for _, bad := range []string{"\n", "a b\n", zero + " " + one + "\n", zero + " xyz refs/heads/a\n", one + "  refs/heads/a\n"} {
		if _, _, err := readUpdates(strings.NewReader(bad)); !errors.Is(err, errInput) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzReadUpdates(f *testing.F) {
	f.Add(zero + " " + one + " refs/heads/a\n")
	f.Add(zero + " ref:refs/heads/a HEAD\n")
	f.Fuzz(func(t *testing.T, text string) {
		updates, format, err := readUpdates(strings.NewReader(text))
		for _, u := range updates {
			if !u.next.IsZero() && format == "" || u.symbolic && !u.next.IsZero() {
				t.Errorf("%+v, %q, %v", u, format, err)
			}
		}
	})
}
