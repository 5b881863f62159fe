package doctor

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/refstore"
)

// FuzzHost: a host is told by the end of its name alone, and where a repository can be read over http has no credentials in it.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"git@github.com:a/b.git", "ssh://git@ssh.github.com:443/a/b", "https://u:p@GitLab.com/a", "https://github.com.evil/a", "user@github.com@evil:a", "file:///a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		name, _ := address(remote)
		if h, ok := HostOf(remote); ok {
			found := false
			for _, known := range hosts {
				found = found || h == known.host && ("." + name)[max(0, len(name)-len(known.suffix)):] == "."+known.suffix
			}
			if !found {
				t.Errorf("%q is %+v", remote, h)
			}
		}
		web, derived := WebURL(remote)
		if u, err := url.Parse(web); err == nil && u.User != nil && gitexec.KindOf(remote) != gitexec.KindHTTP {
			t.Errorf("%q is read at %q", remote, web)
		}
		if derived && !strings.HasPrefix(web, "https://") || web == "" && derived {
			t.Errorf("%q is read at %q", remote, web)
		}
	})
}

// FuzzFinding: whatever is found, its words do nothing to a terminal.
func FuzzFinding(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b[31mb\n", "\u009b\u202e", "bad \xff", "%s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r Report
		r.Good(IDGit, "%s", text)
		r.Note(IDGit, text, "%s", text)
		r.Warn(IDGit, text, "%s", some([]string{text, text, text, text, text, text}))
		r.Fault(IDGit, &refstore.RefusedError{Words: text})
		r.Fault(IDGit, errors.New(text))
		NotChecked(&r, text)
		Limits(&r, text, nil)
		if len(r.Findings) < 6 || r.Count(Problem) != 2 {
			t.Errorf("%d findings", len(r.Findings))
		}
		for _, f := range r.Findings {
			if term.Clean(f.What) != f.What || term.Clean(f.Next) != f.Next {
				t.Errorf("%+v", f)
			}
		}
	})
}
