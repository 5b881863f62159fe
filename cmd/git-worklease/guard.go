package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/hooks/guard"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
)

// inPush tells hooks that the push which they judge is our dry run: the claims are proved once more with the push itself, so that it is
// enough that they are held.
const inPush = "WORKLEASE_IN_PUSH"

// override is why a person wants to pass a guard.
const override = "WORKLEASE_OVERRIDE"

// openGuard opens what a hook works with. What can't be read is the guard's to judge: it fails only where there is no repository. commit says that
// what is staged will be judged. Nobody is asked for a password: there may be nobody.
func (a *app) openGuard(ctx context.Context, commit bool) (*work, *guard.Guard, error) {
	w := &work{app: a, git: a.git()}
	w.git.Interactive = false
	var err error
	if w.repo, err = gitenv.Discover(ctx, w.git); err != nil {
		return nil, nil, err
	}
	a.paint(w.repo.Config)
	g := &guard.Guard{Git: w.git, GitDir: w.repo.GitDir, Clock: a.clock, Override: a.getenv(override), Rehearsal: a.getenv(inPush) != "", Notice: a.notice}
	policy, err := a.lawOf(w.repo.WorkTree)
	if err != nil {
		g.Troubles = append(g.Troubles, err)
	}
	if commit && policy != nil && len(policy.Rules()) > 0 && policy.Enforce().Commit != config.ModeOff {
		g.Foresee(ctx)
	}
	g.Stateless = w.openGuarded(ctx, policy)
	base, err := w.basePolicy(ctx, policy)
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

// basePolicy is the policy at the default branch of the code's remote, as it was fetched last; nil where there is none. It is here itself where that is the same file.
func (w *work) basePolicy(ctx context.Context, here *config.Policy) (*config.Policy, error) {
	name := w.codeRemote()
	if name == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	refs := "refs/remotes/" + name + "/"
	asked := []string{refs + "HEAD"} // which says what the default branch is, where it is known
	for _, branch := range []string{"HEAD", "main", "master"} {
		asked = append(asked, refs+branch+":"+config.PolicyFile)
	}
	out, err := w.git.Pipe(ctx, []byte(strings.Join(asked, "\n")+"\n"), "cat-file", "--batch", "--follow-symlinks")
	if err != nil {
		return nil, err
	}
	found := parseBatch(string(out), len(asked))
	known, files := found[0].kind != "", found[1:]
	if known {
		files = files[:1]
	}
	at := slices.IndexFunc(files, func(o object) bool { return o.kind == "blob" })
	if at < 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	if here != nil && here.Found && string(here.Data) == files[at].data {
		return here, nil
	}
	policy, err := config.ParsePolicy([]byte(files[at].data))
	if err == nil {
		err = policy.Check(w.app.version)
	}
	if err != nil {
		return nil, fmt.Errorf("policy of %s's default branch: %w", name, err)
	}
	return policy, nil
}

// object is what git has of an object that was asked for; zero where it has none.
type object struct{ kind, data string }

// parseBatch reads what `git cat-file --batch --follow-symlinks` writes about so many objects. What is missing, and a link that leads nowhere, is none.
func parseBatch(out string, n int) []object {
	objects := make([]object, n)
	for i := range objects {
		header, rest, ok := strings.Cut(out, "\n")
		out = rest
		f := strings.Fields(header)
		if !ok || len(f) < 2 {
			continue
		}
		size, err := strconv.Atoi(f[len(f)-1])
		if err != nil || size < 0 || size >= len(out) { // missing, or not as git writes it
			continue
		}
		if len(f) == 3 {
			objects[i] = object{f[1], out[:size]}
		}
		out = out[size+1:]
	}
	return objects
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
func (w *work) target(ctx context.Context, name, address string) guard.Target {
	t := guard.Target{Skip: "refs/worklease/", Home: w.codeRemote()}
	if w.settings != nil && w.settings.Prefix.V != "" {
		t.Skip = w.settings.Prefix.V
	}
	if gitexec.KindOf(address) == gitexec.KindPath && !filepath.IsAbs(address) { // as git reads it
		address = filepath.Join(w.repo.WorkTree, address)
	}
	coordinated := w.remote.URL != "" // the claims are in a repository that no remote is
	for _, remote := range w.repo.Remotes() {
		push, err := w.repo.PushURL(ctx, gitenv.Remote{Name: remote})
		if err != nil && !errors.Is(err, gitenv.ErrSeveralPushURLs) {
			continue
		}
		if remote == name || sameURL(push, address) {
			t.Remote = remote
		}
		coordinated = coordinated && !sameURL(push, w.url)
	}
	t.Elsewhere = w.url != "" && !coordinated && (w.remote.Name == "" || w.remote.Name != name) && !sameURL(w.url, address)
	return t
}

// sameURL says whether two URLs name the same repository, by whichever protocol: the host and the path count. Case doesn't, since it does not at most hosts, and
// to take a repository for the team's is the stricter error.
func sameURL(a, b string) bool { return a != "" && repositoryOf(a) == repositoryOf(b) }

func repositoryOf(address string) string {
	host, path := "", address
	switch gitexec.KindOf(address) {
	case gitexec.KindPath, gitexec.KindFile:
		path = realPath(gitexec.FilePath(address))
	default:
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			host, path = u.Hostname(), u.Path
		} else if before, after, ok := strings.Cut(address, ":"); ok { // host:path
			host, path = before[strings.LastIndexByte(before, '@')+1:], after
		}
	}
	return strings.ToLower(host + "/" + strings.Trim(strings.TrimSuffix(strings.TrimSuffix(path, "/"), ".git"), "/"))
}

// realPath is where a repository's path leads, by links as well; git adds the end of its name.
func realPath(path string) string {
	for _, name := range []string{path, strings.TrimRight(path, "/") + ".git"} {
		if resolved, err := filepath.EvalSymlinks(name); err == nil {
			return filepath.ToSlash(resolved)
		}
	}
	return filepath.ToSlash(path)
}
