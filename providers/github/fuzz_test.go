package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// FuzzParse: whatever is read as an item is read as the same again, and all that is no key is said to be none, without a password.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"42", "#042", "acme/app#42", "github:#1", "https://u:p@github.com/a/b/pull/1/files?x#y", "git@github.com:a/b.git#3", "github:h.example/a/b#1", "４２", "ssh://git@h:22/a/b/issues/1",
	} {
		f.Add(s, "github.com")
		f.Add(s, "h.example")
	}
	f.Fuzz(func(t *testing.T, text, host string) {
		here := Repository{Host: cleanHost(host), Owner: "acme", Name: "app"}
		if here.Host == "" {
			return
		}
		r, err := parseRef(text, here)
		if err != nil {
			if !errors.Is(err, providers.ErrNotKey) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		key := string(r.key())
		again, err := parseRef(key, here)
		if err != nil || again != r || strings.ToLower(key) != key || len(key) > maxText {
			t.Errorf("%q is %q, and that is %+v, %v", text, key, again, err)
		}
	})
}

// FuzzParseRepository: whatever is read as a repository is read as the same again, and its interface is reached by https.
func FuzzParseRepository(f *testing.F) {
	for _, s := range []string{"acme/app", "https://h:8443/a/b.git/", "git@ssh.github.com:a/b", "ext::x", "https://h/a/b?c#d", "a://b/c/d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := ParseRepository(text)
		if !ok {
			return
		}
		if again, ok := ParseRepository(r.String()); !ok || !again.same(r) {
			t.Errorf("%q is %q, and that %+v", text, r, again)
		}
		if _, err := Open(Options{Repository: r}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// FuzzParseIssue: an issue has a number and a state, or is no issue; what is made of it has a key that is one.
func FuzzParseIssue(f *testing.F) {
	for _, s := range []string{
		`{"number":1,"state":"open","labels":["a",{"name":"p0"},null],"assignees":[null,{"login":"x"}],"milestone":null,"pull_request":{"merged_at":null}}`,
		`{"number":null,"state":null,"title":null,"body":null,"labels":null,"created_at":null}`, `{"number":1,"state":"closed","parent_issue_url":"https://api.github.com/repos/a/b/issues/2"}`,
		`[]`, `{"number":1e3,"state":"open","created_at":"x"}`,
	} {
		f.Add([]byte(s))
	}
	p, err := Open(Options{Repository: home})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := parseIssue(data)
		if err != nil {
			return
		}
		item := p.item(i, home)
		if key, err := p.Parse(string(item.Key)); err != nil || key != item.Key || item.Version == "" || item.Status == "" {
			t.Errorf("%s: %+v, %v", data, item, err)
		}
		if _, err := p.canonical(item.Parent); item.Parent != "" && err != nil {
			t.Errorf("%s: a part of %q: %v", data, item.Parent, err)
		}
	})
}

// FuzzText: what a body names are items, not too many, and none where there is no number.
func FuzzText(f *testing.F) {
	for _, s := range []string{"depends on #1, a/b#2", "- [ ] #1", "<!-- --> fixes #1", "```\n`", "blocked by https://github.com/a/b/issues/1)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		needs, closes := needsIn(body, home), closedBy(body, home)
		if len(needs) > maxNamed || len(closes) > maxNamed || len(needs)+len(closes) > 0 && !strings.ContainsAny(body, "123456789") {
			t.Errorf("%q: %v, %v", body, needs, closes)
		}
		for _, n := range needs {
			if r, err := parseRef(string(n.ref.key()), home); err != nil || r != n.ref {
				t.Errorf("%q: %+v, %v", body, n, err)
			}
		}
	})
}

// FuzzParseEntry: a kept answer is as it was written, or is none.
func FuzzParseEntry(f *testing.F) {
	for _, e := range []*entry{{ETag: `"x"`, body: []byte("[]")}, {ETag: `W/"y"`, Link: `<https://h/>; rel="next"`, body: bytes.Repeat([]byte("a"), 1000)}} {
		data, err := formatEntry(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-3])
	}
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parseEntry(data)
		if err != nil {
			return
		}
		again, err := formatEntry(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parseEntry(again)
		if err != nil || back.ETag != e.ETag || back.Link != e.Link || !bytes.Equal(back.body, e.body) {
			t.Errorf("%q became %+v, %v", data, back, err)
		}
	})
}

// FuzzLimitEnd: whatever headers say, nothing is sent for an hour at most, and after a refusal for a while at least.
func FuzzLimitEnd(f *testing.F) {
	f.Add("60", "0", "1800000000", true)
	f.Add("Wed, 21 Oct 2026 07:28:00 GMT", "", "-1", true)
	f.Add("-9223372036854775808", "0", "9223372036854775807", false)
	now := time.Unix(1_800_000_000, 0)
	f.Fuzz(func(t *testing.T, after, remaining, reset string, refused bool) {
		h := map[string][]string{"Retry-After": {after}, "X-Ratelimit-Remaining": {remaining}, "X-Ratelimit-Reset": {reset}}
		until := limitEnd(h, now, refused)
		if until.After(now.Add(longest)) || refused && !until.After(now) {
			t.Errorf("%q, %q, %q: %v", after, remaining, reset, until)
		}
	})
}

// TestNames: labels and users are read in each form that they have.
func TestNames(t *testing.T) {
	var n names
	if err := json.Unmarshal([]byte(`["a",{"name":"b"},{"login":"c","name":"C"},null,{"name":null}]`), &n); err != nil || strings.Join(n, " ") != "a b c" {
		t.Errorf("%q, %v", n, err)
	}
	for _, bad := range []string{`{}`, `[1]`, `["a"`, `[[]]`} {
		if err := json.Unmarshal([]byte(bad), &n); err == nil {
			t.Errorf("%s is %q", bad, n)
		}
	}
}
