package beads

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

// files makes a folder with files, whose names are within .beads.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range texts {
		fill(t, dir, filepath.Join(folder, file), text)
	}
	return dir
}

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		found bool
		want  []string
	}{
		{"nothing", nil, false, nil},
		{"other things of bd's", map[string]string{"formula.toml": "x"}, false, nil},
		{"a database alone", map[string]string{"metadata.json": `{"database":"dolt","dolt_database":"my_app"}`}, true, []string{"my_app", "my-app"}},
		{"a database of no name", map[string]string{"metadata.json": `{"database":"beads.db"}`}, true, nil},
		{"broken metadata", map[string]string{"metadata.json": `{"dolt_database":`}, true, nil},
		{"the setting", map[string]string{"config.yaml": "# issue-prefix: \"no\"\nsync:\n  issue-prefix: no\nissue-prefix: \"my-app\"  # ours\n"}, true, []string{"my-app"}},
		{"the setting, plain", map[string]string{"config.yaml": "\ufeffissue-prefix: MyApp- # ours\r\n"}, true, []string{"MyApp"}},
		{"the setting, in single quotes", map[string]string{"config.yaml": "issue_prefix: 'a'"}, true, []string{"a"}},
		{"no setting", map[string]string{"config.yaml": "# issue-prefix: \"\"\nissue-prefix:\n"}, true, nil},
		{"a setting that is none", map[string]string{"config.yaml": "issue-prefix: ../x\n", "metadata.json": `{"dolt_database":"app"}`}, true, []string{"app"}},
		{"issues", map[string]string{"issues.jsonl": "\ufeff\n{\"_type\":\"memory\",\"id\":\"no-1\"}\n{\"id\":\"beads-vscode-1\"}\n"}, true, []string{"beads-vscode"}},
		{"both", map[string]string{"config.yaml": "issue-prefix: new\n", "issues.jsonl": `{"id":"old-a1b2.3"}`, "metadata.json": `{"dolt_database":"x"}`}, true, []string{"new", "old"}},
		{"an empty export", map[string]string{"issues.jsonl": ""}, true, nil},
	} {
		settings, found := Detect(files(t, test.files))
		if found != test.found || !slices.Equal(settings.Prefixes, test.want) || settings.FileOnly {
			t.Errorf("%s: %+v, %v", test.name, settings, found)
		}
	}
	if _, found := Detect(filepath.Join(t.TempDir(), "gone")); found {
		t.Error("found in no folder")
	}
}

func TestDetectFollowsNoLinkOut(t *testing.T) {
	outside := files(t, map[string]string{"issues.jsonl": `{"id":"demo-1"}`})
	for _, link := range []string{folder, exportFile} {
		dir := t.TempDir()
		if link == exportFile {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join(outside, link), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		if settings, found := Detect(dir); found {
			t.Errorf("%s: %+v", link, settings)
		}
		p, err := Open(Options{Dir: dir, Settings: Settings{FileOnly: true, Prefixes: []string{"demo"}}})
		if err != nil {
			t.Fatal(err)
		}
		if l, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrBroken) {
			t.Errorf("%s: %+v, %v", link, l, err)
		}
	}
}

func TestPrefixOfID(t *testing.T) {
	for id, want := range map[string]string{
		"bd-123": "bd", "bd-a3f": "bd", "bd-bat": "bd", "beads-vscode-1": "beads-vscode", "web-app-a3f8e9": "web-app", "web-app-a3f8e9.1.2": "web-app",
		"vc-baseline-test": "vc", "bd-main-idj": "bd-main", "app-login_page": "app", "my-app-abcdefgh1": "my", "none": "",
	} {
		if got := prefixIn(id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func TestSettingsThatCannotBeRead(t *testing.T) {
	for _, test := range []struct {
		prefixes []string
		config   string
		want     string
	}{
		{[]string{"demo", "de mo"}, "", `providers.beads.prefixes: "de mo" is no prefix of IDs; expected one such as demo`},
		{[]string{"-rf"}, "", `providers.beads.prefixes: "-rf" is no prefix of IDs; expected one such as demo`},
		{nil, strings.Repeat("#\n", 1<<20), ".beads/config.yaml: it has more than 1048576 bytes"},
	} {
		dir := files(t, map[string]string{"config.yaml": test.config})
		if _, err := Open(Options{Dir: dir, Settings: Settings{Prefixes: test.prefixes}}); !errors.Is(err, providers.ErrBroken) || err.Error() != test.want {
			t.Errorf("%v", err)
		}
	}
}

// TestKeys: what the suite has no world for.
func TestKeys(t *testing.T) {
	for _, test := range []struct {
		prefixes   []string
		text, want string
	}{
		{[]string{"hq", "hq-cv"}, "hq-cv-1a2", "beads:hq-cv-1a2"},
		{[]string{"MyApp"}, "myapp-1A2", "beads:myapp-1a2"},
		{[]string{"demo"}, "beads:other-1a2.3", "beads:other-1a2.3"},
		{[]string{"demo"}, "demo-login-page", "beads:demo-login-page"},
		{nil, "beads:task-7", "beads:task-7"},

		{[]string{"demo"}, "other-1a2", `"other-1a2": not a key`},
		{nil, "task-7", `"task-7": not a key`},
		{[]string{"demo"}, "demo-1/2", `"demo-1/2" is no key of beads: it has more than letters, digits, hyphens, underscores and dots; expected an ID such as demo-a1b2`},
		{[]string{"demo"}, "demo-４7b", `"demo-４7b" is no key of beads: it has more than letters, digits, hyphens, underscores and dots; expected an ID such as demo-a1b2`},
		{[]string{"demo"}, "demo-47b.", `"demo-47b." is no key of beads: a part of it is empty; expected an ID such as demo-a1b2`},
		{nil, "beads:47b", `"beads:47b" is no key of beads: it has no hyphen; expected an ID such as bd-a1b2`},
		{nil, "beads:--rf-1", `"beads:--rf-1" is no key of beads: a part of it is empty; expected an ID such as bd-a1b2`},
	} {
		p := &Provider{prefixes: test.prefixes}
		got, err := p.Parse(test.text)
		if err != nil && errors.Is(err, providers.ErrNotKey) {
			got = providers.Key(err.Error())
		}
		if string(got) != test.want {
			t.Errorf("%q is %q, want %q", test.text, got, test.want)
		}
	}
}
