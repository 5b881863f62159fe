package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/git-worklease/git-worklease/internal/gitenv"
)

// Place is where state is kept, and the folder that it belongs to.
type Place struct {
	// Root is the folder of the state. It may not exist yet.
	Root string
	// Owner is the clone's common git directory, whose identity the claims are tied to; outside a repository Root.
	Owner string
	// Worktree is git's ID of a linked worktree, "" for the main one.
	Worktree string
	// Born tells a linked worktree from an earlier one of the same ID; 0 for the main one, and where it can't be told.
	Born int64
}

// ErrNoHome is returned where neither a repository nor the environment says where state could be kept.
var ErrNoHome = errors.New("no home directory")

// Locate finds the place for a repository: stateDir where it is set, else a folder in the common git directory. Outside a
// repository it is a folder of the user's, one for each url, since every authority needs its own.
func Locate(repo *gitenv.Repo, stateDir, url string, getenv func(string) string) (Place, error) {
	if repo.CommonDir == "" {
		return outside(stateDir, url, getenv)
	}
	root := stateDir
	if root == "" {
		root = filepath.Join(repo.CommonDir, "worklease")
	}
	return Place{Root: root, Owner: repo.CommonDir, Worktree: repo.Worktree, Born: born(repo)}, nil
}

func outside(stateDir, url string, getenv func(string) string) (Place, error) {
	root := stateDir
	if root == "" {
		base, err := userState(getenv)
		if err != nil {
			return Place{}, err
		}
		root = filepath.Join(base, "git-worklease")
	}
	root = filepath.Join(root, hashName(url))
	return Place{Root: root, Owner: root}, nil
}

// userState is the user's folder for state: $XDG_STATE_HOME, or what stands for it.
func userState(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if dir := getenv("LOCALAPPDATA"); runtime.GOOS == "windows" && filepath.IsAbs(dir) {
		return dir, nil
	}
	if dir := getenv("HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".local", "state"), nil
	}
	return "", ErrNoHome
}

// hashName is a file name for a URL, which may hold a password.
func hashName(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:16])
}

// Home is the identity of a clone on one machine: a copy of it has another.
type Home struct {
	Host  string `json:"host"`
	Path  string `json:"path"`
	Inode uint64 `json:"inode"`
}

func (h Home) String() string { return fmt.Sprintf("%s:%s (inode %d)", h.Host, h.Path, h.Inode) }

// Where is the clone's place for people.
func (h Home) Where() string { return h.Host + ":" + h.Path }

func homeOf(host, owner string) (Home, error) {
	n, err := inode(owner)
	if err != nil {
		return Home{}, &StateError{owner, err}
	}
	return Home{Host: host, Path: owner, Inode: n}, nil
}

// moved says whether a folder has another path than it had and is the same nevertheless: nothing is left where it was.
func moved(was, now Home) bool {
	if was.Host != now.Host || was.Inode != now.Inode {
		return false
	}
	_, err := os.Lstat(was.Path)
	return absent(err)
}
