package beads

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// good is a sound line.
const good = `{"id":"demo-1a2","title":"One","priority":1,"created_at":"2026-11-29T13:40:12Z"}`

func TestBadLines(t *testing.T) {
	for _, test := range []struct {
		name, text string
		// ids are those that are listed, and want the troubles.
		ids, want []string
	}{
		{"cut in half", good + "\n" + good[:30], []string{"demo-1a2"}, []string{".beads/issues.jsonl:2: it is cut off"}},
		{"a mark, CRLF and empty lines", "\ufeff" + good + "\r\n\r\n" + strings.ReplaceAll(good, "1a2", "3b4") + "\r\n", []string{"demo-1a2", "demo-3b4"}, nil},
		{"without an ID", `{"title":"One"}` + "\n" + good, []string{"demo-1a2"}, []string{".beads/issues.jsonl:1: an issue without an ID"}},
		{"an ID that is none", `{"id":"../../etc"}` + "\n" + good, []string{"demo-1a2"}, []string{`.beads/issues.jsonl:1: "../../etc" is no ID: it has no hyphen`}},
		{
			"an ID twice", good + "\n" + strings.ReplaceAll(good, "1a2", "3b4") + "\n" + strings.ReplaceAll(good, "One", "Later"), []string{"demo-1a2", "demo-3b4"},
			[]string{".beads/issues.jsonl:1: demo-1a2 is there again in line 3, which counts"},
		},
		{"an ID in two cases", good + "\n" + strings.ReplaceAll(good, "demo-1a2", "Demo-1A2"), []string{"Demo-1A2"}, []string{".beads/issues.jsonl:1: demo-1a2 is there again in line 2, which counts"}},
		{"a conflict", "<<<<<<< HEAD\n" + good + "\n=======\n>>>>>>> x\n", []string{"demo-1a2"}, []string{
			".beads/issues.jsonl:1: it is not JSON: invalid character '<' looking for beginning of value",
			".beads/issues.jsonl:3: it is not JSON: invalid character '=' looking for beginning of value",
			".beads/issues.jsonl:4: it is not JSON: invalid character '>' looking for beginning of value",
		}},
		{"a field of another kind", `{"id":"demo-3b4","priority":"high"}` + "\n" + good, []string{"demo-1a2"}, []string{".beads/issues.jsonl:1: priority is a JSON string"}},
		{"a list", "[]\n" + good, []string{"demo-1a2"}, []string{".beads/issues.jsonl:1: a JSON array is no issue"}},
		{"a long line", `{"id":"demo-3b4","title":"` + strings.Repeat("x", maxLine) + "\"}\n" + good, []string{"demo-1a2"}, []string{".beads/issues.jsonl:1: it has more than 1048576 bytes"}},
		{"deep", strings.Repeat(`{"dependencies":[`, 20000) + "\n" + good, []string{"demo-1a2"}, []string{".beads/issues.jsonl:1: it is not JSON: invalid character '{' exceeded max depth"}},
		{"heads and memories", `{"_schema":"beads-jsonl/1"}` + "\n" + `{"_type":"memory","key":"k","value":"v"}` + "\n" + good, []string{"demo-1a2"}, nil},
		{"empty", "", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := open(t, "", test.text)
			l, err := p.List(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := itemIDs(l); !slices.Equal(got, test.ids) {
				t.Errorf("%q, want %q", got, test.ids)
			}
			if got := texts(l.Troubles); !slices.Equal(got, test.want) {
				t.Errorf("%q\nwant %q", got, test.want)
			}
			for _, err := range l.Troubles {
				if !errors.Is(err, providers.ErrBroken) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

func itemIDs(l *providers.Listing) []string {
	var ids []string
	for _, item := range l.Items {
		ids = append(ids, item.ID)
	}
	return ids
}

func texts(errs []error) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

// TestLaterOfTwo: of two lines with one ID the later one counts, as where bd imports them.
func TestLaterOfTwo(t *testing.T) {
	p := open(t, "", good, strings.ReplaceAll(good, "One", "Later"))
	if item, err := p.Read(t.Context(), "beads:demo-1a2"); err != nil || item.Title != "Later" {
		t.Errorf("%+v, %v", item, err)
	}
}

func TestTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("it has a hundred thousand lines")
	}
	var text strings.Builder
	for i := range maxItems + 2 {
		fmt.Fprintf(&text, "{\"id\":\"demo-%d\"}\n", i)
	}
	l, err := open(t, "", text.String()).List(t.Context(), nil)
	if err != nil || len(l.Items) != maxItems || !slices.Equal(texts(l.Troubles), []string{".beads/issues.jsonl:100001: there are more than 100000 issues; the rest is left out"}) {
		t.Errorf("%d, %q, %v", len(l.Items), l.Troubles, err)
	}
	l, err = open(t, "", strings.Repeat("<p>\n", 1000)+good).List(t.Context(), nil)
	if err != nil || len(l.Items) != 1 || len(l.Troubles) != maxTroubles+1 || l.Troubles[maxTroubles].Error() != "900 more like those: the tracker's data is broken" {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestNoExport(t *testing.T) {
	p := open(t, "", good)
	if err := os.Remove(filepath.Join(p.dir, exportFile)); err != nil {
		t.Fatal(err)
	}
	l, err := p.List(t.Context(), nil)
	if !errors.Is(err, providers.ErrUnavailable) || err.Error() != "there is no .beads/issues.jsonl, and bd, which has the issues, is not used: the tracker is unavailable" {
		t.Errorf("%+v, %v", l, err)
	}
	if err := os.Mkdir(filepath.Join(p.dir, exportFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if l, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrBroken) || err.Error() != ".beads/issues.jsonl: not a plain file" {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestNotFoundAmongBroken: whoever looks for an issue that isn't there is told where it may be.
func TestNotFoundAmongBroken(t *testing.T) {
	_, err := open(t, "", good, good[:30]).Read(t.Context(), "beads:demo-9z9")
	if !errors.Is(err, providers.ErrNotFound) || err.Error() != "demo-9z9: no such item; 1 others could not be read, the first: .beads/issues.jsonl:2: it is cut off" {
		t.Errorf("%v", err)
	}
}

func TestBadProgram(t *testing.T) {
	for _, test := range []struct {
		mode string
		kind error
		want string
	}{
		{"hangs", providers.ErrUnavailable, "bd list gave no answer within 300ms: the tracker is unavailable"},
		{"html", providers.ErrBroken, "bd list: it is not JSON: invalid character '<' looking for beginning of value"},
		{"floods", providers.ErrBroken, "bd list: it wrote more than 1048576 bytes"},
		{"killed", providers.ErrUnavailable, "bd list: the tracker is unavailable: signal: killed"},
		{"silent", providers.ErrBroken, "bd list: it wrote nothing"},
		{"half", providers.ErrBroken, "bd list: it is cut off"},
		{"no database", providers.ErrUnavailable, "bd list: no beads database found"},
	} {
		t.Run(test.mode, func(t *testing.T) {
			p := open(t, test.mode, good)
			switch test.mode {
			case "hangs":
				p.timeout = 300 * time.Millisecond
			case "floods":
				p.maxAnswer = 1 << 20
			}
			if l, err := p.List(t.Context(), nil); !errors.Is(err, test.kind) || err.Error() != test.want {
				t.Errorf("%+v, %v", l, err)
			}
			if item, err := p.Read(t.Context(), "beads:demo-1a2"); !errors.Is(err, test.kind) {
				t.Errorf("%+v, %v", item, err)
			}
			if mark, err := p.Start(t.Context(), "beads:demo-1a2", robot); !mark.IsZero() || !errors.Is(err, test.kind) {
				t.Errorf("%+v, %v", mark, err)
			}
		})
	}
}

// TestProgramGone: a bd that was uninstalled meanwhile is named.
func TestProgramGone(t *testing.T) {
	p := open(t, "answers", good)
	p.program = filepath.Join(p.dir, "bd")
	if l, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrUnavailable) || !strings.HasPrefix(err.Error(), "bd list: the tracker is unavailable: ") {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestBrokenItemOfProgram(t *testing.T) {
	l, err := open(t, "broken item", good).List(t.Context(), nil)
	if err != nil || !slices.Equal(itemIDs(l), []string{"demo-fmu"}) || !slices.Equal(texts(l.Troubles), []string{
		"bd list: priority is a JSON string", "bd list: an issue without an ID", "bd list: demo-fmu is there again, which counts",
	}) {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestInterrupted: whoever interrupts a program that hangs does not wait for it.
func TestInterrupted(t *testing.T) {
	p := open(t, "hangs", good)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if l, err := p.List(ctx, nil); !errors.Is(err, context.Canceled) || errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestOtherVersions: older ones don't know every flag, later ones write an envelope, and one that starts a server leaves that its standard output.
func TestOtherVersions(t *testing.T) {
	for _, mode := range []string{"old", "envelope", "leaves a server"} {
		p := open(t, mode, project...)
		l, err := p.List(t.Context(), nil)
		if err != nil || !l.Complete() || len(l.Items) != len(projectItems()) {
			t.Errorf("%s: %+v, %v", mode, l, err)
		}
		if pid, err := os.ReadFile(filepath.Join(p.dir, "server.pid")); err == nil {
			end(t, string(pid))
		}
		if mode == "leaves a server" {
			continue
		}
		if item, err := p.Read(t.Context(), "beads:demo-47b"); err != nil || item.Title != "Add CAS push" {
			t.Errorf("%s: %+v, %v", mode, item, err)
		}
	}
}

func end(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	server, err := os.FindProcess(n)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Error(err)
	}
}
