package gitserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// ErrBadConfig is returned for a setting that is not of the form key=value.
var ErrBadConfig = errors.New("not key=value")

// Repos is a directory of bare repositories, which one or several servers serve.
type Repos struct {
	// Root is the directory, absolute.
	Root string
}

// NewRepos makes root, which may exist already, a directory of bare repositories.
func NewRepos(root string) (*Repos, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("repositories: %w", err)
	}
	if err := os.MkdirAll(root, 0o750); err != nil {
		return nil, fmt.Errorf("repositories: %w", err)
	}
	return &Repos{Root: root}, nil
}

// Repo is one bare repository.
type Repo struct {
	// Name is its directory's name below the root, with ".git".
	Name string
	// Dir is its path.
	Dir string
	git gitexec.Git
}

// Damage leaves the file of a ref empty, as a crash does.
func (r *Repo) Damage(ref string) error {
	return os.WriteFile(filepath.Join(r.Dir, filepath.FromSlash(ref)), nil, 0o600)
}

// NewRepo creates an empty bare repository with the default branch main, pushable over http, whose automatic gc runs in the
// foreground. Each config is key=value. The name gets ".git" if it has not.
func (r *Repos) NewRepo(ctx context.Context, name string, config ...string) (*Repo, error) {
	return r.newRepo(ctx, name, nil, config)
}

// NewSHA256Repo is NewRepo with SHA-256 as the object format.
func (r *Repos) NewSHA256Repo(ctx context.Context, name string, config ...string) (*Repo, error) {
	return r.newRepo(ctx, name, []string{"--object-format=sha256"}, config)
}

func (r *Repos) newRepo(ctx context.Context, name string, initArgs, config []string) (*Repo, error) {
	repo := r.Repo(name)
	args := append([]string{"init", "--quiet", "--bare", "--initial-branch=main"}, initArgs...)
	if _, err := repo.git.Output(ctx, append(args, repo.Dir)...); err != nil {
		return nil, fmt.Errorf("repository %s: %w", name, err)
	}
	for _, setting := range append([]string{"http.receivepack=true", "gc.autoDetach=false"}, config...) {
		if err := repo.Set(ctx, setting); err != nil {
			return nil, fmt.Errorf("repository %s: %w", name, err)
		}
	}
	return repo, nil
}

// Repo is the repository of that name, which is not looked for.
func (r *Repos) Repo(name string) *Repo {
	name = strings.TrimSuffix(name, ".git") + ".git"
	env := append(os.Environ(), serverEnv(r.Root)...)
	return &Repo{Name: name, Dir: filepath.Join(r.Root, name), git: gitexec.Git{Dir: r.Root, Env: env}}
}

// serverEnv keeps the settings of whoever runs the tests away from servers.
func serverEnv(home string) []string {
	return []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C"}
}

// Git runs git on the repository and returns its trimmed output.
func (r *Repo) Git(ctx context.Context, args ...string) (string, error) {
	return r.Pipe(ctx, nil, args...)
}

// Pipe is Git with stdin as standard input.
func (r *Repo) Pipe(ctx context.Context, stdin []byte, args ...string) (string, error) {
	out, err := r.git.Pipe(ctx, stdin, append([]string{"--git-dir=" + r.Dir}, args...)...)
	return strings.TrimSpace(string(out)), err
}

// Set adds a setting, key=value, to the repository's configuration.
func (r *Repo) Set(ctx context.Context, setting string) error {
	key, value, ok := strings.Cut(setting, "=")
	if !ok {
		return fmt.Errorf("%w: %s", ErrBadConfig, setting)
	}
	_, err := r.Git(ctx, "config", key, value)
	return err
}

// Hook installs an executable hook, for example "pre-receive".
func (r *Repo) Hook(name, script string) error {
	path := filepath.Join(r.Dir, "hooks", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("hook %s: %w", name, err)
	}
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		return fmt.Errorf("hook %s: %w", name, err)
	}
	return nil
}

// Seed makes a first commit with one file on main, so that a clone has something checked out, and returns its object ID.
func (r *Repo) Seed(ctx context.Context) (string, error) {
	blob, err := r.Pipe(ctx, []byte("# app\n"), "hash-object", "-w", "--stdin")
	if err != nil {
		return "", fmt.Errorf("seed: %w", err)
	}
	tree, err := r.Pipe(ctx, []byte("100644 blob "+blob+"\tREADME.md\n"), "mktree")
	if err != nil {
		return "", fmt.Errorf("seed: %w", err)
	}
	commit, err := r.Git(ctx, "-c", "user.name=Seed", "-c", "user.email=seed@example.com", "commit-tree", "-m", "Start", tree)
	if err != nil {
		return "", fmt.Errorf("seed: %w", err)
	}
	_, err = r.Git(ctx, "update-ref", "refs/heads/main", commit)
	return commit, err
}

// Refs maps the names of all refs below prefix to their tips.
func (r *Repo) Refs(ctx context.Context, prefix string) (map[string]string, error) {
	out, err := r.Git(ctx, "for-each-ref", "--format=%(refname) %(objectname)", prefix)
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		if name, oid, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			refs[name] = oid
		}
	}
	return refs, nil
}
