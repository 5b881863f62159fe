package doctor

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// SignIn examines whether something that runs in the background, and may ask nobody, could read and push. quiet is the store, opened anew so that nobody
// can be asked and no open connection is used; list is what is read from it.
func SignIn(ctx Context, r *Report, git *gitexec.Git, remote string, quiet refstore.Store, list string) {
	if _, err := quiet.List(ctx, list); err != nil {
		f := fault.Explain(err, r.Scene)
		r.Warn(IDSignIn, signInHelp(remote), "hooks and keepers ask nobody, and could not reach the remote: %s", f.Message)
		return
	}
	if gitexec.KindOf(remote) != gitexec.KindHTTP {
		r.Good(IDSignIn, "nobody need be asked")
		return
	}
	web, _ := WebURL(remote)
	if access, _ := Anonymous(ctx, web, WriteService); access == AccessOpen {
		r.Good(IDSignIn, "the server asks for no credentials, to push neither")
		return
	}
	if !hasCredentials(ctx, git, remote) {
		r.Warn(IDSignIn, signInHelp(remote), "git has no credentials for pushes to %s that it need not ask for: hooks and keepers would fail", web)
		return
	}
	r.Good(IDSignIn, "git has credentials that it need not ask for")
}

// hasCredentials says whether git can fill in credentials without asking anybody. What they are is looked at by nobody.
func hasCredentials(ctx Context, git *gitexec.Git, remote string) bool {
	u, err := url.Parse(remote)
	if err != nil || strings.ContainsAny(u.Host+u.Path+u.User.String(), "\n\r\x00") {
		return false
	}
	if _, ok := u.User.Password(); ok {
		return true
	}
	var ask bytes.Buffer
	fmt.Fprintf(&ask, "protocol=%s\nhost=%s\npath=%s\n", u.Scheme, u.Host, strings.TrimPrefix(u.Path, "/"))
	if name := u.User.Username(); name != "" {
		fmt.Fprintf(&ask, "username=%s\n", name)
	}
	silent := *git
	silent.Interactive = false
	header, _ := silent.Output(ctx, "config", "--get-urlmatch", "http.extraHeader", remote)
	if strings.HasPrefix(strings.ToLower(string(header)), "authorization:") {
		return true
	}
	out, err := silent.Pipe(ctx, ask.Bytes(), "credential", "fill")
	return err == nil && (bytes.Contains(out, []byte("\npassword=")) || bytes.Contains(out, []byte("\ncredential=")))
}

// signInHelp is how to get credentials that need not be asked for.
func signInHelp(remote string) string {
	if gitexec.KindOf(remote) == gitexec.KindSSH {
		return "load the key into an agent with `ssh-add`, and accept the host's key once with `git ls-remote`"
	}
	return "set a helper with `git config --global credential.helper NAME`, then run `git worklease status` once on a terminal to sign in"
}
