package gitenv_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitenv"
)

func TestChoose(t *testing.T) {
	cases := []struct {
		name    string
		config  []string
		wanted  string
		want    gitenv.Remote
		wantErr error
	}{
		{name: "none", want: gitenv.Remote{}},
		{name: "the only one", config: []string{"remote.x.url=u"}, want: gitenv.Remote{Name: "x"}},
		{name: "one with a push URL alone", config: []string{"remote.x.pushurl=u"}, want: gitenv.Remote{Name: "x"}},
		{name: "one without a URL is none", config: []string{"remote.x.fetch=+refs/*:refs/*", "remote.pushDefault=x"}},
		{name: "origin", config: []string{"remote.a.url=u", "remote.origin.url=u"}, want: gitenv.Remote{Name: "origin"}},
		{
			name:   "upstream before origin",
			config: []string{"remote.origin.url=u", "remote.upstream.url=u"}, want: gitenv.Remote{Name: "upstream"},
		},
		{
			name:   "gh-resolved before upstream",
			config: []string{"remote.up.url=u", "remote.upstream.url=u", "remote.up.gh-resolved=base"},
			want:   gitenv.Remote{Name: "up"},
		},
		{
			name:   "gh-resolved to another repository marks nothing",
			config: []string{"remote.up.url=u", "remote.origin.url=u", "remote.up.gh-resolved=acme/app"},
			want:   gitenv.Remote{Name: "origin"},
		},
		{name: "several", config: []string{"remote.b.url=u", "remote.a.url=u"}, wantErr: gitenv.ErrWhichRemote},
		{name: "wanted", config: []string{"remote.origin.url=u", "remote.b.url=u"}, wanted: "b", want: gitenv.Remote{Name: "b"}},
		{name: "name with a slash", config: []string{"remote.a/b.url=u"}, wanted: "a/b", want: gitenv.Remote{Name: "a/b"}},
		{name: "no such", config: []string{"remote.origin.url=u"}, wanted: "b", wantErr: gitenv.ErrNoSuchRemote},
		{name: "URL", config: []string{"remote.origin.url=u"}, wanted: "https://h/r", want: gitenv.Remote{URL: "https://h/r"}},
		{name: "scp-like", wanted: "git@h:r", want: gitenv.Remote{URL: "git@h:r"}},
		{name: "path", wanted: "../r", want: gitenv.Remote{URL: "../r"}},
	}
	b := newBox(t)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := string(rune('a' + i))
			b.git(dir, "init", "-q")
			b.configure(dir, c.config...)
			got, err := b.discover(dir).Choose(c.wanted)
			if !errors.Is(err, c.wantErr) || got != c.want {
				t.Errorf("got %+v, %v; want %+v, %v", got, err, c.want, c.wantErr)
			}
		})
	}
}

func (b *box) configure(dir string, settings ...string) {
	b.t.Helper()
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		b.git(dir, "config", "--add", key, value)
	}
}

func TestWhichRemoteListsThem(t *testing.T) {
	b := newBox(t)
	b.git("r", "init", "-q")
	b.configure("r", "remote.b.url=u", "remote.a.url=u")
	_, err := b.discover("r").Choose("")
	var which *gitenv.WhichRemoteError
	if !errors.As(err, &which) || !slices.Equal(which.Remotes, []string{"a", "b"}) {
		t.Errorf("got %v", err)
	}
}

// TestPushURL compares with what git itself says wherever git has a command for it.
func TestPushURL(t *testing.T) {
	cases := []struct {
		name   string
		config []string
		remote gitenv.Remote
		want   string
	}{
		{"plain", []string{"remote.o.url=https://h/r"}, gitenv.Remote{Name: "o"}, "https://h/r"},
		{"push URL", []string{"remote.o.url=https://h/r", "remote.o.pushurl=ssh://h/r"}, gitenv.Remote{Name: "o"}, "ssh://h/r"},
		{
			"pushInsteadOf", []string{"remote.o.url=https://h/r", "url.ssh://h/.pushInsteadOf=https://h/"},
			gitenv.Remote{Name: "o"}, "ssh://h/r",
		},
		{
			"push URL against pushInsteadOf",
			[]string{"remote.o.url=https://h/r", "remote.o.pushurl=https://h/p", "url.ssh://h/.pushInsteadOf=https://h/"},
			gitenv.Remote{Name: "o"}, "https://h/p",
		},
		{
			"longest insteadOf", []string{"remote.o.url=gh:r", "url.https://h/.insteadOf=gh:", "url.https://x/.insteadOf=g"},
			gitenv.Remote{Name: "o"}, "https://h/r",
		},
		{
			"bare URL follows insteadOf alone",
			[]string{"url.https://h/.insteadOf=gh:", "url.ssh://h/.pushInsteadOf=gh:"}, gitenv.Remote{URL: "gh:r"}, "https://h/r",
		},
		{"bare URL without rules", nil, gitenv.Remote{URL: "ssh://h/r"}, "ssh://h/r"},
		{"absolute path", []string{"remote.o.url=/srv/r"}, gitenv.Remote{Name: "o"}, "/srv/r"},
		{"scp-like", []string{"remote.o.url=git@h:r"}, gitenv.Remote{Name: "o"}, "git@h:r"},
		{"helper", []string{"remote.o.url=codecommit::x/r"}, gitenv.Remote{Name: "o"}, "codecommit::x/r"},
	}
	b := newBox(t)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := string(rune('a' + i))
			b.git(dir, "init", "-q")
			b.configure(dir, c.config...)
			got, err := b.discover(dir).PushURL(t.Context(), c.remote)
			if err != nil || got != c.want {
				t.Fatalf("got %q, %v; want %q", got, err, c.want)
			}
			if c.remote.Name != "" {
				if gits := b.git(dir, "remote", "get-url", "--push", "--all", "o"); gits != got {
					t.Errorf("git says %q, we %q", gits, got)
				}
			}
		})
	}
}

func TestPushURLRefused(t *testing.T) {
	b := newBox(t)
	b.git("r", "init", "-q")
	b.configure("r", "remote.two.url=a", "remote.two.url=b", "remote.one.url=a")
	_, err := b.discover("r").PushURL(t.Context(), gitenv.Remote{Name: "two"})
	var several *gitenv.SeveralPushURLsError
	if !errors.As(err, &several) || !errors.Is(err, gitenv.ErrSeveralPushURLs) || several.Count != 2 {
		t.Errorf("two URLs: %v", err)
	}
	if _, err = b.discover("r").PushURL(t.Context(), gitenv.Remote{Name: "none"}); !errors.Is(err, gitenv.ErrNoSuchRemote) {
		t.Errorf("no such remote: %v", err)
	}
}

// TestRelativePath puts a repository where git finds ../other from several places, and checks that we name the same one.
func TestRelativePath(t *testing.T) {
	b := newBox(t)
	b.git("other", "init", "-q", "--bare")
	b.git("main", "init", "-q")
	b.git("main", "commit", "-q", "--allow-empty", "-m", "x")
	b.configure("main", "remote.o.url=../other")
	b.git("main", "worktree", "add", "-q", "../linked")
	b.git("main/deep/er", "version")
	b.git("bare.git", "init", "-q", "--bare")
	b.configure("bare.git", "remote.o.url=../other")
	for _, dir := range []string{"main", "main/deep/er", "linked", "bare.git"} {
		b.git(dir, "ls-remote", "o") // git finds it from here
		got, err := b.discover(dir).PushURL(t.Context(), gitenv.Remote{Name: "o"})
		if err != nil || got != b.path("other") {
			t.Errorf("%s: got %q, %v; want %q", dir, got, err, b.path("other"))
		}
	}
}

func TestRelativePathOutsideARepository(t *testing.T) {
	b := newBox(t)
	repo, err := gitenv.Discover(t.Context(), b.at("."))
	if !errors.Is(err, gitenv.ErrNotRepository) {
		t.Fatal(err)
	}
	remote, err := repo.Choose("./other")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := repo.PushURL(t.Context(), remote); err != nil || got != b.path("other") {
		t.Errorf("got %q, %v", got, err)
	}
}
