//go:build unix

package external

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// failsAs fails unless an error is of a kind, and has a text.
func failsAs(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || err.Error() != text {
		t.Errorf("%v\nis not %s", err, text)
	}
}

const (
	hello = `{"protocol":1,"name":"odd","source":"odd things","capabilities":["plan","start","finish","fly"],"keys":{"pattern":"[0-9]+","example":"7","more":1},"more":[]}`
	greet = "read -r _; echo '" + hello + "'\n"
)

// program is a shell script as the provider "odd".
func program(t *testing.T, script string, opts Options) *Provider {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "git-worklease-provider-odd"), []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	opts.Name, opts.Dir = "odd", folder
	return open(t, opts, folder)
}

// long is for a program that is not waited for in vain.
var long = Options{}

// soon is a deadline that is waited for.
const soon = 300 * time.Millisecond

// TestMisbehaviour: each thing that a program can do instead of answering is an error that names the program, what it was asked and what it did.
func TestMisbehaviour(t *testing.T) {
	broken, unavailable := providers.ErrBroken, providers.ErrUnavailable
	for name, test := range map[string]struct {
		script string
		opts   Options
		kind   error
		// text is what follows the program's name.
		text string
	}{
		// The handshake.
		"nothing": {"exit 0", long, unavailable, "handshake: the tracker is unavailable: it ended with status 0"},
		"crash": {"echo one >&2; echo two >&2; exit 3", long, unavailable,
			`handshake: the tracker is unavailable: it ended with status 3; it wrote "one\ntwo"`},
		"killed":    {"kill -9 $$", long, unavailable, "handshake: the tracker is unavailable: it was ended by signal 9"},
		"mute":      {"exec sleep 1000", Options{Quick: soon}, unavailable, "handshake: the tracker is unavailable: it said nothing for 300ms"},
		"early":     {"echo Welcome!; cat", long, broken, `handshake: it wrote what is no object of JSON: "Welcome!"`},
		"HTML":      {"echo '<!DOCTYPE html>'", long, broken, `handshake: it wrote what is no object of JSON: "<!DOCTYPE html>"`},
		"blank":     {"echo; exec sleep 1000", long, broken, `handshake: it wrote what is no object of JSON: ""`},
		"half":      {`printf '{"protocol":1'`, long, broken, `handshake: it ended its output within a line: "{\"protocol\":1"`},
		"cut":       {`echo '{"protocol":1'`, long, broken, `handshake: it wrote what can't be read: unexpected end of JSON input: "{\"protocol\":1"`},
		"echo":      {"exec cat", long, broken, `handshake: its source has 0 bytes instead of 1 to 1024`},
		"no hello":  {`echo '{"id":1}'; cat`, long, broken, `handshake: its first line is no handshake: "{\"id\":1}"`},
		"later":     {`read -r _; echo '{"protocol":3,"name":["x"],"keys":"odd"}'`, long, providers.ErrUnsupported, "handshake: not supported by the tracker: it speaks protocol 3, and this git-worklease 1"},
		"types":     {`read -r _; echo '{"protocol":1,"name":["x"]}'`, long, broken, `handshake: it wrote what can't be read: an array as name: "{\"protocol\":1,\"name\":[\"x\"]}"`},
		"version":   {`read -r _; echo '{"protocol":2}'`, long, providers.ErrUnsupported, "handshake: not supported by the tracker: it speaks protocol 2, and this git-worklease 1"},
		"name":      {greetWith(`"odd"`, `"other"`), long, broken, `handshake: it says that it is "other"`},
		"pattern":   {greetWith(`[0-9]+`, `a)|(b`), long, broken, "handshake: its pattern of keys is wrong: error parsing regexp: unexpected ): `a)|(b`"},
		"example":   {greetWith(`"7"`, `"x"`), long, broken, `handshake: its example of a key, "x", is not as its pattern says`},
		"blanks":    {greetWith(`[0-9]+`, `.*`, `"7"`, `"a b"`), long, broken, `handshake: its example of a key, "a b", has other bytes than those of printable ASCII`},
		"address":   {greetWith(`[0-9]+`, `.*`, `"7"`, `"//a"`), long, broken, `handshake: its example of a key, "//a", looks like an address`},
		"refusal":   {`read -r _; echo '{"protocol":1,"error":{"code":"unauthorised","message":"no token"}}'`, long, providers.ErrUnauthorised, "not authorised: no token"},
		"long line": {"head -c 100000000 /dev/zero | tr '\\0' x", long, broken, "handshake: it wrote a line of more than 1048576 bytes"},
		// The answer to a list.
		"no answer":  {greet + "read -r _; exit 4", long, unavailable, "list: the tracker is unavailable: it ended with status 4"},
		"hang":       {greet + "exec sleep 1000", Options{Silence: soon}, unavailable, "list: the tracker is unavailable: it said nothing for 300ms"},
		"deaf":       {greet + "exec <&-; sleep 1000", Options{Silence: soon}, unavailable, "list: the tracker is unavailable: it said nothing for 300ms"},
		"for ever":   {greet + `while :; do echo '{"id":1,"progress":{}}'; sleep 0.01; done`, Options{Longest: soon}, unavailable, "list: the tracker is unavailable: it was not done after 300ms"},
		"many lines": {greet + `yes '{"id":1,"progress":{}}'`, long, broken, "list: it wrote an answer of more than 200000 lines"},
		"garbage":    {greet + "read -r _; echo '{\"id\":1,\"item\":{}}'; echo Traceback; exec sleep 1000", long, broken, `list: it wrote what is no object of JSON: "Traceback"`},
		"middle":     {greet + "read -r _; echo '{\"id\":1,\"item\":{\"key\":\"odd:1\",\"state\":\"open\"}}'; echo oh >&2; exit 5", long, unavailable, `list: the tracker is unavailable: it ended with status 5; it wrote "oh"`},
		"wrong id":   {greet + "read -r _; echo '{\"id\":2,\"end\":true}'; exec sleep 1000", long, broken, `list: it answered request 2 when 1 was asked: "{\"id\":2,\"end\":true}"`},
		"text id":    {greet + "read -r _; echo '{\"id\":\"1\",\"end\":true}'", long, broken, `list: it wrote what can't be read: a string as id: "{\"id\":\"1\",\"end\":true}"`},
		"other":      {greet + "read -r _; echo '{\"id\":1,\"key\":\"odd:1\"}'; exec sleep 1000", long, broken, `list: it answered without what was asked for`},
		"not UTF-8":  {greet + "read -r _; printf '{\"id\":1,\"end\":true,\"troubles\":[{\"message\":\"\\377\"}]}\\n'", long, broken, `list: it wrote what is not UTF-8: "{\"id\":1,\"end\":true,\"troubles\":[{\"message\":\"\xff\"}]}"`},
		"no line":    {greet + "read -r _; head -c 100000000 /dev/zero", long, broken, "list: it wrote a line of more than 1048576 bytes"},
		"deep":       {greet + "read -r _; printf '{\"id\":1,\"item\":'; head -c 1000000 /dev/zero | tr '\\0' '['; echo", long, broken, `list: it wrote what can't be read: invalid character '[' exceeded max depth: "{\"id\":1,\"item\":` + strings.Repeat("[", 105) + `"…`},
		"unknown":    {greet + `read -r _; echo '{"id":1,"error":{"code":"teapot","message":"short"}}'`, long, broken, `list: it answered with the unknown error "teapot": short`},
	} {
		t.Run(name, func(t *testing.T) {
			p := program(t, test.script, test.opts)
			l, err := p.List(t.Context(), nil)
			if l != nil {
				t.Errorf("%+v", l)
			}
			failsAs(t, err, test.kind, "git-worklease-provider-odd: "+test.text)
		})
	}
}

// greetWith is a handshake in which some things stand in the place of others.
func greetWith(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(greet) }

// answering is a program that answers each request with the next line, whatever it is.
func answering(lines ...string) string {
	return greet + "while read -r _; do read -r answer <&3 || exit 9; printf '%s\\n' \"$answer\"; done 3<<'EOF'\n" + strings.Join(lines, "\n") + "\nEOF\n"
}

// TestWrongAnswers: what a program answers is checked, also where it is well-formed.
func TestWrongAnswers(t *testing.T) {
	read := func(p *Provider) error { _, err := p.Read(t.Context(), "odd:1"); return err }
	parse := func(p *Provider) error { _, err := p.Parse("#1"); return err }
	canonical := func(p *Provider) error { _, err := p.Parse("odd:1"); return err }
	plan := func(p *Provider) error { _, err := p.Plan(t.Context(), "odd:1", providers.Worker{}); return err }
	start := func(p *Provider) error { _, err := p.Start(t.Context(), "odd:1", providers.Worker{}); return err }
	unstart := func(p *Provider) error { return p.Unstart(t.Context(), "odd:1", providers.Mark{}) }
	finish := func(p *Provider) error { return p.Finish(t.Context(), "odd:1", providers.Worker{}, providers.Finished) }
	for _, test := range []struct {
		ask     func(*Provider) error
		answers []string
		kind    error
		text    string
	}{
		{read, []string{`{"id":1,"item":{"key":"odd:2","state":"open"}}`}, providers.ErrBroken, "read odd:1: it answered with item odd:2"},
		{read, []string{`{"id":1,"item":{"key":"odd:1","state":"new"}}`}, providers.ErrBroken, `read odd:1: item odd:1: state "new" is none of open, started, waiting, done, cancelled`},
		{read, []string{`{"id":1,"item":{"key":"odd:1","state":"open","opening":"twice"}}`}, providers.ErrBroken, `read odd:1: item odd:1: opening "twice" is none of once, again`},
		{read, []string{`{"id":1,"item":{"key":"odd:1","state":"open","opening":2}}`}, providers.ErrBroken, `read odd:1: an item can't be read: a number as opening: "{\"key\":\"odd:1\",\"state\":\"open\",\"opening\":2}"`},
		{read, []string{`{"id":1,"item":null}`}, providers.ErrBroken, `read odd:1: it answered without what was asked for`},
		{read, []string{`{"id":1}`}, providers.ErrBroken, `read odd:1: it answered without what was asked for`},
		{read, []string{`{"id":1,"error":{"code":"not-found"}}`}, providers.ErrNotFound, "read odd:1: no such item"},
		{read, []string{`{"id":1,"error":{"code":"unavailable","message":"502"}}`}, providers.ErrUnavailable, "read odd:1: the tracker is unavailable: 502"},
		{read, []string{`{"id":1,"error":{"code":"rate-limited","until":"2026-11-02T03:04:05+01:00","message":"slow down"}}`}, providers.ErrRateLimited, "read odd:1: rate limited until 2026-11-02T02:04:05Z: slow down"},
		{read, []string{`{"id":1,"error":{"code":"rate-limited","until":"tomorrow"}}`}, providers.ErrRateLimited, "read odd:1: rate limited"},
		{read, []string{`{"id":1,"error":{}}`}, providers.ErrBroken, `read odd:1: it answered with the unknown error "": `},
		{parse, []string{`{"id":1,"key":"1"}`}, providers.ErrBroken, `parse "#1": it answered with what is no key: the key "1" does not begin with "odd:"`},
		{parse, []string{`{"id":1,"key":"other:1"}`}, providers.ErrBroken, `parse "#1": it answered with what is no key: the key "other:1" does not begin with "odd:"`},
		{parse, []string{`{"id":1,"key":"odd:one"}`}, providers.ErrBroken, `parse "#1": it answered with what is no key: the key "odd:one" is not as its pattern says`},
		{parse, []string{`{"id":1,"key":"odd:"}`}, providers.ErrBroken, `parse "#1": it answered with what is no key: the key "odd:" has 0 bytes instead of 1 to 200`},
		{parse, []string{`{"id":1,"key":"odd:1"}`, `{"id":2,"key":"odd:2"}`}, providers.ErrBroken, `parse "odd:1": it made "odd:2" of a key`},
		{parse, []string{`{"id":1,"key":"odd:1"}`, `{"id":2,"error":{"code":"not-key"}}`}, providers.ErrBroken, `parse "odd:1": it made that key of "#1", and now refuses it: "odd:1": not a key`},
		{canonical, []string{`{"id":1,"key":"odd:01"}`}, providers.ErrBroken, `parse "odd:1": it made "odd:01" of a key`},
		{plan, []string{`{"id":1,"ok":true}`}, providers.ErrBroken, "plan odd:1: it answered without what was asked for"},
		{plan, []string{`{"id":1,"mark":["doing"]}`}, providers.ErrBroken, `plan odd:1: it wrote what can't be read: an array as mark: "{\"id\":1,\"mark\":[\"doing\"]}"`},
		{plan, []string{`{"id":1,"mark":{"labels":["` + strings.Repeat("x", maxMark) + `"]}}`}, providers.ErrBroken, "plan odd:1: it answered with a mark of more than 4096 bytes"},
		{plan, []string{`{"id":1,"error":{"code":"not-found"}}`}, providers.ErrNotFound, "plan odd:1: no such item"},
		{start, []string{`{"id":1,"ok":true}`}, providers.ErrBroken, "start odd:1: it answered without what was asked for"},
		{start, []string{`{"id":1,"mark":{"labels":["` + strings.Repeat("x", maxMark) + `"]}}`}, providers.ErrBroken, "start odd:1: it answered with a mark of more than 4096 bytes"},
		{start, []string{`{"id":1,"error":{"code":"taken","message":"by ann"}}`}, providers.ErrTaken, "start odd:1: taken by another: by ann"},
		{unstart, []string{`{"id":1,"ok":false}`}, providers.ErrBroken, "unstart odd:1: it answered without what was asked for"},
		{finish, []string{`{"id":1,"mark":{}}`}, providers.ErrBroken, "finish odd:1: it answered without what was asked for"},
		{finish, []string{`{"id":1,"progress":{}}`, `{}`}, providers.ErrUnavailable, "finish odd:1: the tracker is unavailable: it said nothing for 300ms"},
	} {
		opts := long
		if strings.HasSuffix(test.text, "300ms") {
			opts.Silence = soon
		}
		failsAs(t, test.ask(program(t, answering(test.answers...), opts)), test.kind, "git-worklease-provider-odd: "+test.text)
	}
}

// TestKeysOfPrograms: what is nearly a key is told from what is none, and neither harms the program.
func TestKeysOfPrograms(t *testing.T) {
	p := program(t, answering(`{"id":1,"error":{"code":"not-key"}}`, `{"id":2,"error":{"code":"not-key","message":"too short"}}`,
		`{"id":3,"error":{"code":"not-key","message":"too long","want":"#42"}}`, `{"id":4,"key":"odd:4"}`), long)
	_, err := p.Parse("a")
	failsAs(t, err, providers.ErrNotKey, `"a": not a key`)
	if errors.As(err, new(*providers.KeyError)) {
		t.Errorf("%v is nearly a key", err)
	}
	_, err = p.Parse("b")
	failsAs(t, err, providers.ErrNotKey, `"b" is no key of odd: too short; expected 7`)
	_, err = p.Parse("c")
	failsAs(t, err, providers.ErrNotKey, `"c" is no key of odd: too long; expected #42`)
	for _, text := range []string{"", " a", "a\n", "a\x00b", "\xff", strings.Repeat("a", maxText+1), "a\u0085b"} { // the program is not asked
		if _, err := p.Parse(text); !errors.Is(err, providers.ErrNotKey) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, key := range []providers.Key{"other:1", "odd:x", "odd:", "1", ""} {
		if _, err := p.Read(t.Context(), key); !errors.Is(err, providers.ErrNotKey) {
			t.Errorf("%q: %v", key, err)
		}
	}
	if key, err := p.Parse("odd:4"); key != "odd:4" || err != nil {
		t.Errorf("%q, %v", key, err)
	}
}

// TestOpening: a program may say that an item was opened again, which is a change of it.
func TestOpening(t *testing.T) {
	p := program(t, answering(`{"id":1,"item":{"key":"odd:1","state":"open"}}`, `{"id":2,"item":{"key":"odd:1","state":"open","opening":"once"}}`,
		`{"id":3,"item":{"key":"odd:1","state":"open","opening":"again"}}`), long)
	versions := map[string]bool{}
	for _, want := range []providers.Opening{"", providers.OpenedOnce, providers.OpenedAgain} {
		item, err := p.Read(t.Context(), "odd:1")
		if err != nil || item.Opening != want || versions[item.Version] {
			t.Fatalf("%+v, %v", item, err)
		}
		versions[item.Version] = true
	}
}

// TestPartlyStarted: what is changed is told also where not all of it can be.
func TestPartlyStarted(t *testing.T) {
	p := program(t, answering(`{"id":1,"mark":{"labels":["doing"]},"error":{"code":"unauthorised","message":"no assignees"}}`,
		`{"id":2,"mark":{"labels":["doing"]},"error":{"code":"unauthorised","message":"no assignees"}}`), long)
	planned, refused := p.Plan(t.Context(), "odd:1", providers.Worker{})
	failsAs(t, refused, providers.ErrUnauthorised, "git-worklease-provider-odd: plan odd:1: not authorised: no assignees")
	started, err := p.Start(t.Context(), "odd:1", providers.Worker{})
	failsAs(t, err, providers.ErrUnauthorised, "git-worklease-provider-odd: start odd:1: not authorised: no assignees")
	for _, mark := range []providers.Mark{planned, started} {
		if len(mark.Labels) != 1 || mark.Labels[0] != "doing" {
			t.Errorf("%+v", mark)
		}
	}
}

// TestCannotBeTold: a program is not asked for what it can't do.
func TestCannotBeTold(t *testing.T) {
	p := program(t, greetWith(`"plan","start","finish",`, ``)+"while read -r _; do exit 1; done", long)
	_, err := p.Start(t.Context(), "odd:1", providers.Worker{})
	failsAs(t, err, providers.ErrUnsupported, "git-worklease-provider-odd: start odd:1: not supported by the tracker")
	failsAs(t, p.Unstart(t.Context(), "odd:1", providers.Mark{}), providers.ErrUnsupported, "git-worklease-provider-odd: unstart odd:1: not supported by the tracker")
	failsAs(t, p.Finish(t.Context(), "odd:1", providers.Worker{}, providers.Finished), providers.ErrUnsupported, "git-worklease-provider-odd: finish odd:1: not supported by the tracker")
	h, err := p.Hello(t.Context())
	if err != nil || !h.Can("fly") || h.Can(CanStart) || h.Source != "odd things" {
		t.Errorf("%+v, %v", h, err)
	}
	p = program(t, greetWith(`"plan",`, ``)+"while read -r _; do exit 1; done", long)
	_, err = p.Plan(t.Context(), "odd:1", providers.Worker{})
	failsAs(t, err, providers.ErrUnsupported, "git-worklease-provider-odd: plan odd:1: not supported by the tracker")
}

// TestInterrupted: whoever is interrupted does not wait for the program, which is ended.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := program(t, "exec 9>held; "+greet+"read -r _; echo '{\"id\":1,\"progress\":{\"of\":7}}'; echo '{\"id\":1,\"item\":{\"key\":\"odd:1\",\"state\":\"open\"}}'; exec sleep 1000", long)
	gone := held(t, p)
	l, err := p.List(ctx, func(read, of int) {
		if read != 1 || of != 7 {
			t.Errorf("%d of %d", read, of)
		}
		cancel()
	})
	if l != nil {
		t.Errorf("%+v", l)
	}
	failsAs(t, err, context.Canceled, "git-worklease-provider-odd: list: context canceled")
	<-gone
}

// held is closed once a program has gone, and all that it started, which has opened the pipe "held" beside it.
func held(t *testing.T, p *Provider) <-chan struct{} {
	t.Helper()
	path := filepath.Join(p.opts.Dir, "held")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if text, err := os.ReadFile(path); err != nil || len(text) > 0 {
			t.Errorf("%q, %v", text, err)
		}
	}()
	return gone
}
