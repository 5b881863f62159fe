package localgit

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

var (
	one  = strings.Repeat("1", 40)
	zero = strings.Repeat("0", 40)
)

func everything(string) bool { return true }

func TestParsePacked(t *testing.T) {
	const header = "# pack-refs with: peeled fully-peeled sorted \n"
	for name, test := range map[string]struct {
		in   string
		want map[string]refstore.OID // nil: it is damaged
	}{
		"empty":        {"", map[string]refstore.OID{}},
		"header":       {header, map[string]refstore.OID{}},
		"peeled":       {header + one + " refs/tags/a\n^" + one + "\n", map[string]refstore.OID{"refs/tags/a": refstore.OID(one)}},
		"without end":  {one + " refs/w/a", map[string]refstore.OID{"refs/w/a": refstore.OID(one)}},
		"no object":    {zero + " refs/w/a\n", nil},
		"half an ID":   {one[:20] + " refs/w/a\n", nil},
		"a blank line": {"\n", nil},
	} {
		refs := map[string]refstore.OID{}
		err := parsePacked([]byte(test.in), refs, everything)
		if (err != nil) != (test.want == nil) || test.want != nil && !maps.Equal(refs, test.want) {
			t.Errorf("%s: %v, %v", name, refs, err)
		}
	}
}

func TestParseRef(t *testing.T) {
	if oid, err := parseRef([]byte(one + "\n")); err != nil || oid != refstore.OID(one) {
		t.Errorf("%s, %v", oid, err)
	}
	if _, err := parseRef([]byte("ref: refs/heads/main\n")); !errors.Is(err, errOdd) {
		t.Errorf("symbolic: %v", err)
	}
	for _, in := range []string{"", "\n", zero, one[:39], one + one} {
		if oid, err := parseRef([]byte(in)); err == nil {
			t.Errorf("%q is %s", in, oid)
		}
	}
}
