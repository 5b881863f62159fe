package backlogmd

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFastIsTheLibrary puts pieces together that YAML makes much of, at random, and compares the two ways to read them. The fuzz target looks for more.
func TestFastIsTheLibrary(t *testing.T) {
	pieces := []string{"a", "B c", "''", "'", `"`, ":", ": ", " #", "#", "-", "- ", "@x", "~", "null", "true", "1", "0x1F", "1e3", "2026-01-02", "13:39", ".5", "é", "日本", "&", "*", "!", "%", ",", "?", "=", "<", "<<", ".", "/", "(", " ", "  ", "_", "+", "|", "[", "]", "`", ";", "$"}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // no secret
	value := func() string {
		var b strings.Builder
		for range 1 + random.IntN(4) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		switch text := b.String(); random.IntN(6) {
		case 0:
			return "'" + text + "'"
		case 1:
			return quoted(text)
		case 2:
			return `"` + text + `"`
		default:
			return text
		}
	}
	taken := 0
	for range 20000 {
		text := "id: " + value() + "\nlabels:\n  - " + value() + "\n  - " + value() + "\ntitle: " + value() + "\n"
		got, ok := fast(text)
		if !ok {
			continue
		}
		taken++
		if want, _, err := slow(quoteNames(text)); err != nil || !same(got, want) {
			t.Errorf("%q\nfast: %+v\nslow: %+v, %v", text, got, want, err)
		}
	}
	if taken < 100 {
		t.Errorf("only %d were read in the fast way", taken)
	}
}
