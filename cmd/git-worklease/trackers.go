package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/backlogmd"
	"github.com/git-worklease/git-worklease/providers/beads"
	"github.com/git-worklease/git-worklease/providers/external"
	"github.com/git-worklease/git-worklease/providers/github"
	"github.com/git-worklease/git-worklease/providers/linear"
)

// trackers opens the trackers of the policy, in its order, the first time that it is called. It asks none of them anything. One that can't be opened for
// another reason than the policy is there as [unopened].
func (w *work) trackers() (providers.Set, error) {
	if w.set != nil {
		return w.set, nil
	}
	var set providers.Set
	for _, t := range w.policy.Tables("providers") {
		p, err := w.tracker(t)
		switch {
		case errors.Is(err, config.ErrConfig):
			return nil, err
		case err != nil:
			p = unopened{t.Name, err}
		}
		set = append(set, p)
	}
	w.set = set
	return set, nil
}

// tracker opens one. What is wrong with its table comes before what it says itself.
func (w *work) tracker(t *config.Table) (providers.Provider, error) {
	open := map[string]func(*config.Table) (providers.Provider, error){
		"github": w.openGitHub, "beads": w.openBeads, "backlogmd": w.openBacklog, "linear": w.openLinear,
	}[t.Name]
	if open == nil {
		open = w.openExternal
	}
	p, err := open(t)
	unknown, bad := t.Done()
	switch {
	case bad != nil:
		return nil, bad
	case err != nil:
		return nil, err
	}
	for _, u := range unknown {
		w.app.notice("%s: %s is unknown to this version", u.Origin, term.Clean(u.Key))
	}
	return p, nil
}

func (w *work) openGitHub(t *config.Table) (providers.Provider, error) {
	tokens := github.Tokens{Getenv: w.app.getenv, Git: w.git}
	o := github.Options{
		Started: t.Text("started", github.DefaultStarted), Review: t.Text("review", github.DefaultReview), Close: t.Bool("close", false), Now: w.app.clock.Now,
		API: w.app.getenv("WORKLEASE_GITHUB_API"), Cache: filepath.Join(w.place.Root, "github"),
	}
	var ok bool
	if text := t.Text("repo", ""); text != "" {
		if o.Repository, ok = github.ParseRepository(text); !ok {
			t.Bad("repo", "a repository, such as acme/app")
			return nil, nil
		}
	} else if o.Repository, ok = github.Detect(w.remoteURLs(), tokens.Hosts()...); !ok {
		t.Bad("repo", "a repository, such as acme/app, since no remote of this clone is one of GitHub")
		return nil, nil
	}
	o.Token = tokens.For(o.Repository)
	return github.Open(o)
}

// remoteURLs are the URLs of the clone's remotes, that of the claims first.
func (w *work) remoteURLs() []string {
	urls := []string{w.url}
	for _, name := range w.repo.Remotes() {
		urls = append(urls, w.repo.Config.Value("remote."+name+".url"))
	}
	return urls
}

func (w *work) openBeads(t *config.Table) (providers.Provider, error) {
	return beads.Open(beads.Options{
		Settings: beads.Settings{Prefixes: t.Texts("prefixes"), FileOnly: t.Bool("file_only", false)}, Dir: w.repo.WorkTree, Env: w.plainEnv(), Now: w.app.clock.Now,
	})
}

func (w *work) openBacklog(t *config.Table) (providers.Provider, error) {
	return backlogmd.Open(backlogmd.Options{
		Dir: w.repo.WorkTree, Directory: t.Text("directory", ""), Open: t.Texts("open"), Started: t.Text("started", ""), Program: "backlog", Env: w.plainEnv(),
		Now: w.app.clock.Now,
	})
}

func (w *work) openLinear(t *config.Table) (providers.Provider, error) {
	teams := t.Texts("teams")
	if len(teams) == 0 {
		t.Bad("teams", `a list of teams, such as ["ENG"]`)
	}
	return linear.Open(linear.Options{
		Teams: teams, Workspace: t.Text("workspace", ""), Close: t.Bool("close", false), Token: w.app.getenv("LINEAR_API_KEY"), Now: w.app.clock.Now,
		Endpoint: w.app.getenv("WORKLEASE_LINEAR_API"),
	})
}

func (w *work) openExternal(t *config.Table) (providers.Provider, error) {
	if external.CheckName(t.Name) != nil {
		return nil, &config.Error{Origin: t.Origin, Key: t.Section, Value: t.Name, Want: "2 to 32 of a to z, 0 to 9 and dashes, a letter first, and neither path nor pool"}
	}
	return external.Open(external.Options{
		Name: t.Name, Dir: w.repo.WorkTree, Env: w.plainEnv(), Settings: t.All(), Now: w.app.clock.Now,
		Stderr: func(line string) { w.app.notice("%s: %s", t.Name, term.Clean(line)) },
	})
}

// plainEnv is the environment for programs that may run git themselves, in whichever repository they like.
func (w *work) plainEnv() []string { return gitexec.Unbound(os.Environ()) }

// item is the resource of an item as a person writes it; ok is false where no tracker calls anything so, and where there are none.
func (w *work) item(key string) (r lease.Resource, p providers.Provider, ok bool, err error) {
	if len(w.policy.Tables("providers")) == 0 {
		return "", nil, false, nil
	}
	if scheme := providers.Key(key).Scheme(); scheme != "" && !w.hasTracker(scheme) && lease.Resource(key).Scheme() != "" {
		return "", nil, false, nil
	}
	k, p, err := w.resolve(key)
	switch {
	case err == nil:
		r, err = lease.ParseResource(string(k))
		return r, p, true, err
	case errors.Is(err, providers.ErrNotKey) && !errors.As(err, new(*providers.KeyError)), w.isHeld(key):
		return "", nil, false, nil
	}
	return "", nil, false, err
}

// resolve asks the trackers what a key means.
func (w *work) resolve(key string) (providers.Key, providers.Provider, error) {
	set, err := w.trackers()
	if err != nil {
		return "", nil, err
	}
	return set.Resolve(key)
}

// isHeld says whether this session holds a resource of exactly that name, which then means itself, whatever is the matter with trackers.
func (w *work) isHeld(key string) bool {
	holds, err := w.state.Holds()
	return err == nil && slices.ContainsFunc(holds, func(h lease.Hold) bool {
		return h.End == nil && slices.ContainsFunc(h.Members, func(m lease.Member) bool { return string(m.Resource) == key })
	})
}

// policyTrackers are the names of the policy's trackers, in its order.
func (w *work) policyTrackers() []string {
	var names []string
	for _, t := range w.policy.Tables("providers") {
		names = append(names, t.Name)
	}
	return names
}

func (w *work) hasTracker(name string) bool { return slices.Contains(w.policyTrackers(), name) }

// closeTrackers ends the programs of those trackers that are programs.
func (w *work) closeTrackers() {
	for _, p := range w.set {
		closeTracker(p)
	}
	w.set = nil
}

func closeTracker(p providers.Provider) {
	if c, ok := p.(interface{ Close() error }); ok {
		_ = c.Close() // all that was wanted of it is done
	}
}
