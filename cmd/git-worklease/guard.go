package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/hooks/guard"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
)

// inPush tells hooks that the push which they judge is our dry run: the claims are proved once more with the push itself, so that it is
// enough that they are held.
const inPush = "WORKLEASE_IN_PUSH"

// override is why a person wants to pass a guard.
const override = "WORKLEASE_OVERRIDE"

// openGuard opens what a hook works with. What can't be read is the guard's to judge: it fails only where there is no repository. Nobody is asked for a
// password: there may be nobody.
func (a *app) openGuard(ctx context.Context) (*work, *guard.Guard, error) {
	w := &work{app: a, git: a.git()}
	w.git.Interactive = false
	var err error
	if w.repo, err = gitenv.Discover(ctx, w.git); err != nil {
		return nil, nil, err
	}
	a.paint(w.repo.Config)
	g := &guard.Guard{Git: w.git, Clock: a.clock, Override: a.getenv(override), Rehearsal: a.getenv(inPush) != "", Notice: a.notice}
	policy, err := a.lawOf(w.repo.WorkTree)
	if err != nil {
		g.Troubles = append(g.Troubles, err)
	}
	g.Stateless = w.openGuarded(ctx, policy)
	base, err := w.basePolicy(ctx)
	if err != nil {
		g.Troubles = append(g.Troubles, err)
	}
	g.Law = guard.Together(policy, base)
	w.ctx, w.cancel = w.limit(ctx)
	if g.Stateless == nil {
		w.speakFor(g)
	}
	return w, g, nil
}

// lawOf reads the policy of the work tree for a guard; nil where it can't be used.
func (a *app) lawOf(workTree string) (*config.Policy, error) {
	policy, err := config.ReadPolicy(workTree)
	if err == nil {
		err = policy.Check(a.version)
	}
	if err != nil {
		return nil, err
	}
	return policy, nil
}

// nameUnknown tells of keys in the policy that this version doesn't know: they may be meant to forbid what it lets pass.
func (w *work) nameUnknown() {
	for _, u := range w.settings.Unknown {
		if u.Origin.Source == config.SourcePolicy {
			w.app.notice("%s: unknown key %s", u.Origin, term.Clean(u.Key))
		}
	}
}

// openGuarded opens settings, session and state.
func (w *work) openGuarded(ctx context.Context, policy *config.Policy) (err error) {
	a := w.app
	w.settings, err = config.Load(config.Sources{Flags: a.flags.settings, Getenv: a.getenv, Git: w.repo.Config, Policy: policy})
	if err != nil {
		return err
	}
	if err := w.chooseRemote(ctx); err != nil {
		return err
	}
	if err := w.identify(); err != nil {
		return err
	}
	w.state, err = w.openKind(w.kind())
	return err
}

// limit is the time for all that a hook asks of the remote, as far as the guard does not set a shorter one.
func (w *work) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.settings.Timeout.V == 0 {
		return context.WithCancel(ctx)
	}
	return w.attempt(ctx)
}

// speakFor tells the guard who is judged.
func (w *work) speakFor(g *guard.Guard) {
	a := w.app
	g.State, g.Session, g.Named, g.Runtime = w.state, w.identity.Session, w.identity.Origin != session.OriginWorktree, w.identity.Runtime
	g.Names = []string{w.identity.Agent}
	author := a.getenv("GIT_AUTHOR_NAME")
	if author == "" {
		author = w.repo.Config.Value("user.name")
	}
	if author != "" {
		g.Names = append(g.Names, author)
	}
	g.Remote = func() (guard.Remote, error) {
		if err := w.connect(); err != nil {
			return nil, err
		}
		return w.lease, nil
	}
}

// basePolicy is the policy at the default branch of the code's remote, as it was fetched last; nil where there is none.
func (w *work) basePolicy(ctx context.Context) (*config.Policy, error) {
	name := w.codeRemote()
	if name == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	var asked []string
	for _, branch := range []string{"HEAD", "main", "master"} {
		asked = append(asked, "refs/remotes/"+name+"/"+branch+":"+config.PolicyFile)
	}
	out, err := w.git.Pipe(ctx, []byte(strings.Join(asked, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	data, ok := firstBlob(string(out))
	if !ok {
		return nil, nil //nolint:nilnil // there is none
	}
	policy, err := config.ParsePolicy([]byte(data))
	if err == nil {
		err = policy.Check(w.app.version)
	}
	if err != nil {
		return nil, fmt.Errorf("policy of %s's default branch: %w", name, err)
	}
	return policy, nil
}

// firstBlob is the first file in what `git cat-file --batch` writes. Of a default branch without one, the others are not asked: HEAD says which it is.
func firstBlob(out string) (data string, ok bool) {
	for out != "" {
		header, rest, _ := strings.Cut(out, "\n")
		out = rest
		var id, kind string
		var size int
		if n, err := fmt.Sscanf(header, "%s %s %d", &id, &kind, &size); n != 3 || err != nil || size > len(rest) {
			continue
		}
		if kind == "blob" {
			return rest[:size], true
		}
		out = strings.TrimPrefix(rest[size:], "\n")
	}
	return "", false
}

// codeRemote is the remote that the code is shared by: that of the claims, unless they are in a repository of their own.
func (w *work) codeRemote() string {
	if w.remote.Name != "" {
		return w.remote.Name
	}
	choice, err := w.repo.Choose("")
	if err != nil {
		return "origin"
	}
	return choice.Name
}

// target is where a push goes to, as git tells its hook.
func (w *work) target(ctx context.Context, name, url string) guard.Target {
	t := guard.Target{Skip: "refs/worklease/"}
	if w.settings != nil && w.settings.Prefix.V != "" {
		t.Skip = w.settings.Prefix.V
	}
	coordinated := w.remote.URL != "" // the claims are in a repository that no remote is
	for _, remote := range w.repo.Remotes() {
		push, err := w.repo.PushURL(ctx, gitenv.Remote{Name: remote})
		if err != nil && !errors.Is(err, gitenv.ErrSeveralPushURLs) {
			continue
		}
		if remote == name || sameURL(push, url) {
			t.Remote = remote
		}
		coordinated = coordinated && !sameURL(push, w.url)
	}
	t.Elsewhere = w.url != "" && !coordinated && (w.remote.Name == "" || w.remote.Name != name) && !sameURL(w.url, url)
	return t
}

// sameURL compares URLs as people write them.
func sameURL(a, b string) bool {
	plain := func(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "/"), ".git") }
	return a != "" && plain(a) == plain(b)
}
