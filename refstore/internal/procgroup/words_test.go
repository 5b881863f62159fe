package procgroup

import (
	"strings"
	"testing"
)

func TestWordsAreBounded(t *testing.T) {
	var w Words
	for _, text := range []string{"first ", strings.Repeat("x", maxWords), "last"} {
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("wrote %d of %d: %v", n, len(text), err)
		}
	}
	if got := w.String(); len(got) != maxWords || !strings.HasPrefix(got, "first x") || strings.HasSuffix(got, "last") {
		t.Errorf("%d bytes: %.10q…", len(got), got)
	}
}
