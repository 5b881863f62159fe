package sshgit

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzParseAddress: an address is refused, or has nothing in it that a program would take for an option, and its path comes through the server's shell as it is.
func FuzzParseAddress(f *testing.F) {
	for _, url := range []string{"ssh://git@[::1]:22/~r", "git@h:r", "[h:1]:r", "ssh://%2doX@h/r", "h:it's!", "ssh://a:S3cr3t@h/r"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		a, err := parseAddress(url)
		if err != nil {
			return
		}
		bare := a.host[strings.LastIndexByte(a.host, '@')+1:]
		if bare == "" || a.path == "" || a.host[0] == '-' || bare[0] == '-' || a.path[0] == '-' || a.port != "" && !isPort(a.port) {
			t.Fatalf("%q: %+v", url, a)
		}
		if strings.ContainsAny(a.host+a.path, "\x00\n") {
			t.Errorf("%q: %+v", url, a)
		}
		if got, ok := unquoted(a.quoted()); !ok || got != a.path {
			t.Errorf("%q: a shell makes %q of %s", url, got, a.quoted())
		}
	})
}

// unquoted is what a shell makes of one word, in which only apostrophes and backslashes quote.
func unquoted(word string) (text string, ok bool) {
	for word != "" {
		switch word[0] {
		case '\'':
			end := strings.IndexByte(word[1:], '\'')
			if end < 0 {
				return "", false
			}
			text, word = text+word[1:1+end], word[end+2:]
		case '\\':
			if len(word) < 2 {
				return "", false
			}
			text, word = text+word[1:2], word[2:]
		default:
			return "", false
		}
	}
	return text, true
}

// FuzzWords: a plain line is the words that a shell makes of it.
func FuzzWords(f *testing.F) {
	f.Add(`ssh -F '/a b' -o "X=y" ""`)
	f.Add(`a'b`)
	f.Add("$x `y` \\z")
	f.Fuzz(func(t *testing.T, line string) {
		all, plain := words(line)
		if !plain {
			return
		}
		var quoted []string
		for _, word := range all {
			if strings.Contains(word, "'") {
				return // it was between the other quotes
			}
			quoted = append(quoted, "'"+word+"'")
		}
		if again, plain := words(strings.Join(quoted, " ")); !plain || !slices.Equal(again, all) {
			t.Errorf("%q is %q, and that %q", line, all, again)
		}
		bare := strings.NewReplacer("'", "", `"`, "", " ", "", "\t", "", "\n", "")
		if was, is := bare.Replace(line), bare.Replace(strings.Join(all, "")); was != is {
			t.Errorf("%q has other letters than %q", line, all)
		}
	})
}

// FuzzConfig: what ssh says of its settings, and what their files say, tells of a shared connection where there is one, and reading ends.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("user ann\ncontrolmaster false\ncontrolpath none\n"))
	f.Add([]byte("ControlPath=~/.ssh/%C\n"))
	f.Add([]byte("Include FILE FILE FILE\nInclude \"FILE\"\n"))
	f.Add([]byte("\t include\t=/dev/null\r\n"))
	file := filepath.Join(f.TempDir(), "config")
	f.Fuzz(func(t *testing.T, content []byte) {
		for line := range bytes.Lines(content) {
			keyword, value := keywordOf(string(line))
			if keyword != strings.ToLower(keyword) || strings.ContainsAny(keyword, " \t=") || !strings.Contains(string(line), value) {
				t.Errorf("%q is %q and %q", line, keyword, value)
			}
		}
		if sharesItself(content) && !bytes.Contains(bytes.ToLower(content), []byte("control")) {
			t.Errorf("%q shares", content)
		}
		content = bytes.ReplaceAll(content, []byte("FILE"), []byte(file))
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var first, second bytes.Buffer
		mentioned := scanConfig([]string{file}, &first)
		if again := scanConfig([]string{file}, io.MultiWriter(&second)); again != mentioned || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%q is read differently from one time to the next", content)
		}
		if lower := bytes.ToLower(content); mentioned && !bytes.Contains(lower, []byte("control")) && !bytes.Contains(lower, []byte("include")) {
			t.Errorf("%q speaks of sharing", content)
		}
	})
}

// FuzzSaid: whatever ssh says as it ends is sorted, and its lines are told without their noise.
func FuzzSaid(f *testing.F) {
	f.Add(255, "mux_client_x\r\ngit@h: Permission denied (publickey).\r\n")
	f.Add(128, "fatal: '/r' does not appear to be a git repository\n")
	f.Fuzz(func(t *testing.T, code int, stderr string) {
		said := withoutNoise(stderr)
		for _, line := range said {
			if line == "" || strings.TrimSpace(line) != line || !strings.Contains(stderr, line) || strings.HasPrefix(line, noise[0]) {
				t.Errorf("%q says %q", stderr, line)
			}
		}
		if whyClosed(code, said) == "" {
			t.Errorf("%d, %q: no trouble", code, stderr)
		}
	})
}
