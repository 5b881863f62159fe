//go:build unix

package external

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// counting is a program that notes each start, and answers whatever is asked, until one asks for "odd:9".
const counting = "echo x >>starts; read -r line; echo \"$line\" >greeting; echo '" + hello + "'\n" + `n=0
while read -r line; do
  n=$((n + 1))
  case $line in
  *odd:9*) exit 1 ;;
  *list*) echo "{\"id\":$n,\"end\":true}" ;;
  *) key=${line#*odd:}; echo "{\"id\":$n,\"item\":{\"key\":\"odd:${key%%\"*}\",\"state\":\"open\"}}" ;;
  esac
done
echo end >>ends
`

func starts(t *testing.T, p *Provider) int {
	t.Helper()
	return strings.Count(contents(t, filepath.Join(p.opts.Dir, "starts")), "x")
}

// TestStartedOnce: one program serves all requests, also those of several goroutines, until it is closed.
func TestStartedOnce(t *testing.T) {
	p := program(t, counting, Options{Settings: map[string]any{"file": `a"b<&>`, "n": int64(7), "of": []any{true}}})
	if _, err := os.Stat(filepath.Join(p.opts.Dir, "starts")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opening it started it: %v", err)
	}
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			key := providers.Key("odd:1" + string(rune('0'+n)))
			if item, err := p.Read(t.Context(), key); err != nil || item.Key != key {
				t.Errorf("%+v, %v", item, err)
			}
			if l, err := p.List(t.Context(), nil); err != nil || len(l.Items) != 0 || !l.Complete() {
				t.Errorf("%+v, %v", l, err)
			}
		})
	}
	group.Wait()
	if starts(t, p) != 1 {
		t.Errorf("it was started %d times", starts(t, p))
	}
	if got := contents(t, filepath.Join(p.opts.Dir, "greeting")); got != `{"protocol":1,"name":"odd","settings":{"file":"a\"b<&>","n":7,"of":[true]}}`+"\n" {
		t.Error(got)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if contents(t, filepath.Join(p.opts.Dir, "ends")) != "end\n" {
		t.Error("it did not end by itself")
	}
	if _, err := p.Read(t.Context(), "odd:1"); err != nil || starts(t, p) != 2 {
		t.Errorf("after it was closed: %v, %d", err, starts(t, p))
	}
}

// TestStartedAnew: a program that failed a request, or ended while it was asked nothing, is started anew for the next.
func TestStartedAnew(t *testing.T) {
	p := program(t, counting, long)
	_, err := p.Read(t.Context(), "odd:9")
	failsAs(t, err, providers.ErrUnavailable, "git-worklease-provider-odd: read odd:9: the tracker is unavailable: it ended with status 1")
	if _, err := p.Read(t.Context(), "odd:1"); err != nil || starts(t, p) != 2 {
		t.Errorf("%v, %d", err, starts(t, p))
	}
	proc := <-p.turn
	proc.job.Kill()
	<-proc.job.Done()
	p.turn <- proc
	if _, err := p.Read(t.Context(), "odd:1"); err != nil || starts(t, p) != 3 {
		t.Errorf("%v, %d", err, starts(t, p))
	}
}

// TestAnsweredTwice: what was not asked for is found by the next request.
func TestAnsweredTwice(t *testing.T) {
	p := program(t, greet+"read -r _; echo '{\"id\":1,\"end\":true}'; echo '{\"id\":1,\"end\":true}'; echo >said; while read -r _; do :; done", long)
	if _, err := p.List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	_, err := p.List(t.Context(), nil)
	if text := `"{\"id\":1,\"end\":true}"`; !errors.Is(err, providers.ErrBroken) || !strings.HasSuffix(err.Error(), text) {
		t.Error(err)
	}
}

// TestGroupIsKilled: what a program that hangs has started is killed with it.
func TestGroupIsKilled(t *testing.T) {
	p := program(t, greet+"read -r _; sh -c 'exec 9>held; echo \"{\\\"id\\\":1,\\\"progress\\\":{}}\"; exec sleep 1000'", Options{Silence: soon})
	gone := held(t, p)
	_, err := p.List(t.Context(), nil)
	failsAs(t, err, providers.ErrUnavailable, "git-worklease-provider-odd: list: the tracker is unavailable: it said nothing for 300ms")
	<-gone
}

// TestStubborn: a program that goes on after its input has ended is killed.
func TestStubborn(t *testing.T) {
	p := program(t, "exec 9>held; "+greet+"exec <&-; sleep 1000", Options{Grace: soon})
	gone := held(t, p)
	if _, err := p.Hello(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	<-gone
}

// TestStderr: what a program writes for people reaches them line by line, cut, and is no part of an answer.
func TestStderr(t *testing.T) {
	var mu sync.Mutex
	var got []string
	long := strings.Repeat("y", 2*tailWidth)
	p := program(t, "echo warning >&2; echo "+long+" >&2; echo three >&2;"+counting, Options{Stderr: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, line)
	}})
	if _, err := p.List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(got, []string{"warning", long[:tailWidth], "three"}) {
		t.Errorf("%q", got)
	}
}

// TestTooMany: a listing has so many items and troubles, and says that there are more.
func TestTooMany(t *testing.T) {
	p := program(t, greet+`read -r _; awk 'BEGIN { for (i = 1; i <= 1003; i++) print "{\"id\":1,\"item\":{\"key\":\"odd:" i "\",\"state\":\"new\"}}"
print "{\"id\":1,\"end\":true,\"troubles\":[null,{\"message\":\"one\"},{\"code\":\"unavailable\",\"message\":\"two\"},{\"where\":\"f\",\"line\":3}]}" }'`, long)
	l, err := p.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Items) != 0 || len(l.Troubles) != maxTroubles+1 || l.Troubles[0].Error() != `git-worklease-provider-odd: list: item odd:1: state "new" is none of open, started, waiting, done, cancelled` ||
		l.Troubles[maxTroubles].Error() != "git-worklease-provider-odd: list: 6 more troubles" {
		t.Errorf("%d items, %d troubles, %v", len(l.Items), len(l.Troubles), l.Troubles[len(l.Troubles)-1])
	}
	p = program(t, greet+`read -r _; awk 'BEGIN { for (i = 1; i <= 100003; i++) print "{\"id\":1,\"item\":{\"key\":\"odd:" i "\",\"state\":\"open\"}}"
print "{\"id\":1,\"end\":true,\"troubles\":[null,{\"message\":\"one\"},{\"code\":\"unavailable\",\"message\":\"two\"},{\"where\":\"f\",\"line\":3}]}" }'`, long)
	if l, err = p.List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	told(t, l.Troubles, "git-worklease-provider-odd: list: one", "git-worklease-provider-odd: list: the tracker is unavailable: two", "f:3: it can't be read",
		"git-worklease-provider-odd: list: 100003 items, of which only 100000 are read")
	if len(l.Items) != maxItems {
		t.Errorf("%d items", len(l.Items))
	}
}

// TestOrder: items come by priority, and within one as the program has them; one that comes twice is named, and a listing that broke off is kept.
func TestOrder(t *testing.T) {
	item := func(key, rest string) string {
		return `echo '{"id":1,"item":{"key":"odd:` + key + `","state":"open"` + rest + `}}'; `
	}
	p := program(t, greet+"read -r _; "+item("3", "")+item("2", `,"priority":"low"`)+item("1", `,"priority":"urgent"`)+item("9", `,"priority":"low"`)+item("3", `,"title":"x"`)+
		item("8", `,"priority":"odd"`)+item("6", `,"title":7`)+item("5", `,"updated":"today"`)+item("4", `,"needs":[{}]`)+item("7", `,"parent":"7"`)+
		`echo '{"id":1,"error":{"code":"rate-limited"}}'; cat`, long)
	l, err := p.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, i := range l.Items {
		keys = append(keys, string(i.Key))
	}
	if strings.Join(keys, " ") != "odd:1 odd:2 odd:9 odd:3" {
		t.Errorf("%q", keys)
	}
	const in = "git-worklease-provider-odd: list: "
	told(t, l.Troubles, in+"item odd:3 comes twice", in+`item odd:8: priority "odd" is none of urgent, high, medium, low, lowest`, in+"an item can't be read: a number as title: ",
		in+`item odd:5: updated is "today" and not such as 2006-01-02T15:04:05Z`, in+"item odd:4: it needs what has neither key nor text",
		in+`item odd:7: its parent: the key "7" does not begin with "odd:"`, in+"rate limited")
}

// TestFind: the program is looked for in folders of PATH that do not depend on the current directory.
func TestFind(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	bin := filepath.Join(here, "bin")
	for _, name := range []string{"git-worklease-provider-here", "bin/git-worklease-provider-there", "bin/git-worklease-provider-Bad", "bin/git-worklease-provider-", "bin/git-worklease-provider-two"} {
		write(t, filepath.Join(here, name), "#!/bin/sh\n")
		if err := os.Chmod(filepath.Join(here, name), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(bin, "git-worklease-provider-plain"), "no program")
	env := []string{"PATH=ignored", "PATH=:.:bin:" + bin + ":/nonexistent:" + bin}
	for name, want := range map[string]string{
		"there": "",
		"here":  "git-worklease-provider-here: the tracker is unavailable: no such program on PATH, of which only absolute folders count",
		"plain": "git-worklease-provider-plain: the tracker is unavailable: no such program on PATH, of which only absolute folders count",
	} {
		path, err := find(prefix+name, env)
		if want == "" {
			if err != nil || path != filepath.Join(bin, prefix+name) {
				t.Errorf("%q, %v", path, err)
			}
			continue
		}
		failsAs(t, err, providers.ErrUnavailable, want)
	}
	if got := Detect(env); !slices.Equal(got, []string{"there", "two"}) {
		t.Errorf("%q", got)
	}
	p, err := Open(Options{Name: "none", Dir: here, Env: []string{"PATH=/nonexistent"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.List(t.Context(), nil)
	failsAs(t, err, providers.ErrUnavailable, "git-worklease-provider-none: the tracker is unavailable: no such program on PATH")
	write(t, filepath.Join(bin, "git-worklease-provider-two"), "#!/nonexistent/sh\n")
	if p, err = Open(Options{Name: "two", Dir: here, Env: env}); err != nil {
		t.Fatal(err)
	}
	_, err = p.List(t.Context(), nil)
	failsAs(t, err, providers.ErrUnavailable, "git-worklease-provider-two: the tracker is unavailable: "+filepath.Join(bin, prefix+"two")+": its interpreter was not found")
}

// TestOpen: what no program can be named, and what can't be told to one, is refused.
func TestOpen(t *testing.T) {
	for _, name := range []string{"", "a", "1a", "-a", "A1", "a_b", "a/b", "../a", "path", "pool", "é1", strings.Repeat("a", 33)} {
		if p, err := Open(Options{Name: name}); err == nil {
			t.Errorf("%q is %v", name, p)
		}
	}
	for _, name := range []string{"ab", "a-1", strings.Repeat("a", 32)} {
		if p, err := Open(Options{Name: name}); err != nil || p.Name() != name {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, settings := range []map[string]any{{"a": func() {}}, {"a": strings.Repeat("x", maxLine)}} {
		if _, err := Open(Options{Name: "ab", Settings: settings}); err == nil {
			t.Error("settings that can't be passed on")
		}
	}
	if p, err := Open(Options{Name: "ab"}); err != nil || p.opts.Quick != 10*time.Second || p.opts.Silence != 30*time.Second || p.opts.Longest != 5*time.Minute || p.opts.Grace != 2*time.Second {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestProbe: what a program does where nobody looks is found.
func TestProbe(t *testing.T) {
	parses := `while read -r line; do case $line in *parse*) echo '{"id":2,"key":"odd:7"}' ;; *) echo '{"id":1,"error":{"code":"unsupported"}}' ;; esac; done`
	for name, test := range map[string]struct {
		script string
		want   []string
	}{
		"good":       {greet + parses, nil},
		"status":     {greet + parses + "; exit 3", []string{"it ends with status 3 once its input has ended"}},
		"stubborn":   {greet + parses + "; sleep 1000", []string{"it goes on 300ms after its input has ended"}},
		"strict":     {`read -r line; case $line in *x-probe*) exit 7 ;; esac`, []string{"a handshake with a field that it can't know: the tracker is unavailable: it ended with status 7"}},
		"strict key": {greet + strings.Replace(parses, "*parse*)", "*parse*passed*) echo oh >&2; exit 6 ;; *parse*)", 1), []string{`a request with a field that it can't know: the tracker is unavailable: it ended with status 6; it wrote "oh"`}},
		"odd code":   {greet + strings.Replace(parses, "unsupported", "not-found", 1), []string{"it does not answer a request that it can't know with the error unsupported, but with git-worklease-provider-odd: x-probe: no such item"}},
		"answers":    {greet + strings.Replace(parses, `"error":{"code":"unsupported"}`, `"ok":true`, 1), []string{"it does not answer a request that it can't know with the error unsupported, but with no error"}},
		"example":    {greet + strings.Replace(parses, `odd:7`, `odd:8`, 1), []string{`its example of a key, "odd:7", becomes "odd:8"`}},
		"crash":      {greet + "read -r _; exit 1", []string{"a request that it can't know: the tracker is unavailable: it ended with status 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			opts := Options{}
			if name == "stubborn" {
				opts.Grace = soon
			}
			var got []string
			for _, err := range program(t, test.script, opts).Probe(t.Context()) {
				got = append(got, strings.TrimPrefix(err.Error(), "git-worklease-provider-odd: "))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q", got)
			}
		})
	}
}
