package server

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

// SettingsFile is the file in the git directory by which a server's administrator sets the hook. It need not be there.
const SettingsFile = "worklease-server.toml"

// everybody stands for the users that Resources does not name.
const everybody = "*"

// Settings are what a server's administrator decides.
type Settings struct {
	// Prefix is where the authority keeps its refs, with a slash at its end.
	Prefix string `toml:"prefix"`
	// Force are the users who may end the claims of others by force.
	Force []string `toml:"force"`
	// Resources are, for each user, the beginnings of the resources that the user may claim; those of "*" hold for all who are not named. Without
	// either a user may claim everything.
	Resources map[string][]string `toml:"resources"`
}

// ErrSettings is returned for a settings file that can't be used.
var ErrSettings = errors.New("bad settings of the server hook")

// ReadSettings reads the settings in a git directory. It returns [ErrSettings], wrapped.
func ReadSettings(gitDir string) (Settings, error) {
	s := Settings{Prefix: lease.DefaultPrefix}
	data, err := os.ReadFile(filepath.Join(gitDir, SettingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	meta, err := toml.Decode(string(data), &s)
	switch unknown := meta.Undecoded(); {
	case err != nil:
		return s, fmt.Errorf("%w: %s: %w", ErrSettings, SettingsFile, err)
	case len(unknown) > 0:
		return s, fmt.Errorf("%w: %s: there is no key %s", ErrSettings, SettingsFile, unknown[0])
	case !config.IsPrefix(s.Prefix):
		return s, fmt.Errorf("%w: %s: prefix %q: want one such as %q", ErrSettings, SettingsFile, s.Prefix, lease.DefaultPrefix)
	}
	return s, nil
}

// mayForce says whether a user may release by force. Who is nobody may not.
func (s *Settings) mayForce(user string) bool { return user != "" && slices.Contains(s.Force, user) }

// may says whether a user may write the claim of a resource.
func (s *Settings) may(user string, r lease.Resource) bool {
	allowed, named := s.Resources[cmp.Or(user, everybody)]
	if !named {
		allowed, named = s.Resources[everybody]
	}
	return !named || slices.ContainsFunc(allowed, func(beginning string) bool { return strings.HasPrefix(string(r), beginning) })
}
