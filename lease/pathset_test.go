package lease

import (
	"slices"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestPathSetIsCovers: a set finds what one look at each claim would.
func TestPathSetIsCovers(t *testing.T) {
	segment := rapid.StringOfN(rapid.RuneFrom([]rune(`abAB*é\`)), 1, 3, -1)
	path := rapid.Custom(func(t *rapid.T) string {
		text := ""
		for _, s := range rapid.SliceOfN(segment, 1, 4).Draw(t, "segments") {
			text += "/" + s
		}
		return text[1:]
	})
	rapid.Check(t, func(t *rapid.T) {
		var set PathSet
		var all []Resource
		for _, p := range append(rapid.SliceOfN(path, 0, 6).Draw(t, "claims"), ".") {
			if r, err := PathResource(p); err == nil {
				all = append(all, r)
				set.Add(r)
			}
		}
		file := path.Draw(t, "file")
		var want []Resource
		for _, r := range all {
			if Covers(r, file) {
				want = append(want, r)
			}
		}
		got := set.Covering(file)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%q is covered by %q, and the set says %q", file, want, got)
		}
	})
}

func TestPathSetOfNoPaths(t *testing.T) {
	var set PathSet
	set.Add("task:a")
	set.Add("path:/absolute")
	if got := set.Covering("a"); len(got) != 0 {
		t.Errorf("covered by %q", got)
	}
}

// TestFoldCaseQuickly: the short cut for ASCII gives what the rule gives.
func TestFoldCaseQuickly(t *testing.T) {
	for r := rune(0); r < 0x80; r++ {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		if got := foldCase(string(r)); got != string(least) {
			t.Errorf("%q folds to %q instead of %q", r, got, least)
		}
	}
}
