package lease

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestEncodeName(t *testing.T) {
	tests := []struct{ key, want string }{
		{"task:demo", "task%3ademo"},
		{"github:acme/app#42", "github%3aacme%2fapp%2342"},
		{"port:3000", "port%3a3000"},
		{"A", "%41"},
		{"..", "%2e%2e"},
		{"x.lock", "x%2elock"},
		{"a~b@{c", "a%7eb%40%7bc"},
		{"-x", "%2dx"},
		{"é", "%c3%a9"},
		{"\xff", "%ff"},
		{"aux", "%61ux"},
		{"com1", "%63om1"},
		{"com", "com"},
		{"console", "console"},
		{"%41", "%2541"},
		{"a+b", "a%2bb"},
	}
	for _, tt := range tests {
		if got := EncodeName(tt.key); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.key, got, tt.want)
		}
		if back, ok := DecodeName(tt.want); !ok || back != tt.key {
			t.Errorf("%q decodes to %q, %t", tt.want, back, ok)
		}
	}
}

func TestEncodeLongName(t *testing.T) {
	a, b := EncodeName(strings.Repeat("a", 201)), EncodeName(strings.Repeat("a", 202))
	if len(a) != keptBytes+1+64 || a == b || !strings.HasPrefix(a, strings.Repeat("a", keptBytes)+"+") {
		t.Errorf("%q, %q", a, b)
	}
	if EncodeName(strings.Repeat("a", 200)) != strings.Repeat("a", 200) {
		t.Error("200 bytes are not too long")
	}
	if key, ok := DecodeName(a); ok {
		t.Errorf("a hashed name decodes to %q", key)
	}
}

func TestDecodeNameRefuses(t *testing.T) {
	for _, name := range []string{"", "%", "%4", "%zz", "A", "%61", "%3A", "aux", "a b"} {
		if key, ok := DecodeName(name); ok {
			t.Errorf("%q decodes to %q", name, key)
		}
	}
}

func TestNameProperties(t *testing.T) {
	key := rapid.OneOf(rapid.StringN(1, 90, 1024), rapid.StringMatching(`[a-zA-Z%+./:~-]{1,300}`),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 300), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		a, b := key.Draw(t, "a"), key.Draw(t, "b")
		na, nb := EncodeName(a), EncodeName(b)
		if (a == b) != (na == nb) {
			t.Fatalf("%q and %q are named %q and %q", a, b, na, nb)
		}
		if na != strings.ToLower(na) || len(na) > maxEncoded || !refstore.ValidRef(DefaultPrefix+"claims/"+na) {
			t.Fatalf("%q is named %q", a, na)
		}
		if back, ok := DecodeName(na); ok && back != a || !ok && !strings.Contains(na, "+") {
			t.Fatalf("%q comes back as %q, %t", a, back, ok)
		}
	})
}
