package external

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/conform"
)

// line is the handshake of an ordinary program.
const line = `{"protocol":1,"name":"odd","source":"odd things","capabilities":["start"],"keys":{"pattern":"[a-z0-9./:-]+","example":"7"}}`

// claimable fails unless a key is of the program and can be claimed as it is.
func claimable(t *testing.T, key providers.Key) {
	t.Helper()
	if r, err := lease.ParseResource(string(key)); err != nil || string(r) != string(key) || key.Scheme() != "odd" {
		t.Errorf("the key %q is the resource %q, %v", key, r, err)
	}
}

// FuzzHello: a first line of any bytes is refused, or is the handshake of the program that was meant, in a version that is spoken.
func FuzzHello(f *testing.F) {
	f.Add([]byte(line))
	f.Add([]byte(`{"protocol":2,"name":7}`))
	f.Add([]byte(`{"protocol":1,"error":{"code":"rate-limited","until":"2026-11-02T03:04:05Z"}}`))
	f.Add([]byte(strings.Replace(line, `[a-z0-9./:-]+`, `(a*)*|.*)(.*`, 1)))
	f.Add([]byte("<html>\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := decodeHello(text, "odd", "here")
		if err != nil {
			var b breach
			if h != nil || !errors.As(err, &b) && !errors.As(err, new(*refusal)) && !errors.Is(err, providers.ErrUnsupported) {
				t.Errorf("%+v, %v", h, err)
			}
			return
		}
		key, err := h.key("odd:" + h.Keys.Example)
		if err != nil || h.Name != "odd" || h.Protocol != Protocol || h.Source == "" || !utf8.ValidString(h.Source) {
			t.Fatalf("%+v, %v", h, err)
		}
		claimable(t, key)
	})
}

// FuzzKey: what passes for a key of a program can be claimed, and stays what it is, whatever the program's pattern.
func FuzzKey(f *testing.F) {
	for _, text := range []string{"odd:7", "odd:", "odd://7", "odd:/7", "odd: 7", "odd:７", "ODD:7", "odd:odd:7", "odd:7\n", "path:7", "odd:" + strings.Repeat("7", maxKey+1)} {
		f.Add(text)
	}
	h := &Hello{Name: "odd", Keys: Syntax{Pattern: "(?s).*", Example: "7"}}
	if err := h.Keys.compile(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := h.key(text)
		if err != nil {
			return
		}
		claimable(t, key)
		if string(key) != text || !typed(text) {
			t.Errorf("%q becomes %q, and can be typed: %v", text, key, typed(text))
		}
	})
}

// FuzzAnswer: a line of any bytes is refused, or is an answer whose parts are within the limits and whose errors are those of package providers.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		`{"id":1,"key":"odd:7"}`, `{"id":1,"end":true,"troubles":[{"message":"x","where":"f","line":-3},null]}`, `{"id":1,"progress":{"of":-1}}`, `{"id":1,"item":null}`,
		`{"id":1,"mark":{"status":"a","was_status":"b","assigned":["c"]},"error":{"code":"taken","message":"d"}}`, `{"id":2}`, `[]`, "\xff", `{"id":1,"error":{"code":"broken"}}`,
		`{"id":1,"item":{"key":"odd:7","id":"#7","title":"t","url":"u","state":"open","opening":"again","status":"s","priority":"high","labels":["l"],"assignees":["a"],"milestone":"m",` +
			`"parent":"odd:1","needs":[{"key":"odd:2","kind":"k","state":"done"},{"text":"x"}],"pulls":[{"id":"p","draft":true}],"version":"v","updated":"2026-11-02T03:04:05Z"}}`,
	} {
		f.Add([]byte(text))
	}
	h, err := decodeHello([]byte(line), "odd", "here")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := decodeAnswer(text, 1)
		if err != nil {
			var b breach
			if !errors.As(err, &b) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		for _, fault := range append(a.Troubles, a.Error) {
			if fault != nil {
				anError(t, fault.err("here"))
				anError(t, fault.trouble("here"))
			}
		}
		if a.Item != nil {
			anItem(t, h, a.Item)
		}
	})
}

// anError fails for one that is not of package providers, or is too long for a line.
func anError(t *testing.T, err error) {
	t.Helper()
	for _, kind := range codes {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Errorf("an error of another kind: %v", err)
}

// anItem fails for an item that has other words than those that are known, or does not come to the same again.
func anItem(t *testing.T, h *Hello, raw json.RawMessage) {
	t.Helper()
	i, err := h.item(raw)
	if err != nil {
		return
	}
	claimable(t, i.Key)
	if err := conform.Words(i); err != nil || len(i.Version) > maxKey || !utf8.ValidString(i.Title) {
		t.Errorf("%+v, %v", i, err)
	}
	for _, n := range i.Needs {
		if n.Key != "" {
			claimable(t, n.Key)
		}
	}
	if again, err := h.item(raw); err != nil || again.Version != i.Version {
		t.Errorf("version %q and then %q, %v", i.Version, again.Version, err)
	}
}
