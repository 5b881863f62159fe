package linear

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxFile is in bytes, for each file that Detect reads.
const maxFile = 1 << 20

// Detect says whether the project in a folder uses Linear, as far as its files tell, and returns the teams and the workspace that they name. It asks nobody. Those are
// the settings of the program called linear, or else links to teams and issues in what a project tells its contributors.
func Detect(top string) (Options, bool) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return Options{}, false
	}
	defer func() { _ = root.Close() }()
	for _, file := range []string{"linear.toml", ".linear.toml", ".config/linear.toml"} {
		var settings struct {
			Team      string `toml:"team_id"`
			Workspace string `toml:"workspace"`
		}
		if _, err := toml.Decode(readFile(root, file), &settings); err != nil || !isTeam(settings.Team) {
			continue
		}
		opts := Options{Teams: []string{strings.ToUpper(settings.Team)}}
		if isSlug(settings.Workspace) {
			opts.Workspace = settings.Workspace
		}
		return opts, true
	}
	var opts Options
	for _, file := range []string{
		"CONTRIBUTING.md", "README.md", "AGENTS.md", "CLAUDE.md", "docs/CONTRIBUTING.md",
		".github/CONTRIBUTING.md", ".github/PULL_REQUEST_TEMPLATE.md", ".github/pull_request_template.md", ".github/ISSUE_TEMPLATE/config.yml",
	} {
		opts.addLinks(readFile(root, file))
	}
	slices.Sort(opts.Teams)
	return opts, len(opts.Teams) > 0
}

// addLinks adds the teams that a text has links to, all in the workspace of the first.
func (o *Options) addLinks(text string) {
	if !strings.Contains(text, "linear.app/") {
		return
	}
	links := regexp.MustCompile(`https://linear\.app/([A-Za-z0-9-]+)/(?:team/([A-Za-z0-9]+)|issue/([A-Za-z0-9]+)-[1-9])`)
	for _, link := range links.FindAllStringSubmatch(text, -1) {
		team := strings.ToUpper(link[2] + link[3])
		if o.Workspace == "" && isSlug(link[1]) && isTeam(team) {
			o.Workspace = link[1]
		}
		if link[1] == o.Workspace && isTeam(team) && len(o.Teams) < maxTeams && !slices.Contains(o.Teams, team) {
			o.Teams = append(o.Teams, team)
		}
	}
}

// readFile reads a file of the project; nothing where it is none, is too large, or leads out of it.
func readFile(root *os.Root, name string) string {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil || len(content) > maxFile {
		return ""
	}
	return string(content)
}
