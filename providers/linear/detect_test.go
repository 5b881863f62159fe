package linear

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  Options
	}{
		"nothing":         {nil, Options{}},
		"settings":        {map[string]string{".linear.toml": "workspace = \"acme\"\nteam_id = \"eng\"\nissue_sort = \"priority\"\n"}, Options{Teams: []string{"ENG"}, Workspace: "acme"}},
		"a folder":        {map[string]string{".config/linear.toml": "team_id = \"ENG\""}, Options{Teams: []string{"ENG"}}},
		"no team":         {map[string]string{"linear.toml": "workspace = \"acme\""}, Options{}},
		"a strange team":  {map[string]string{"linear.toml": "team_id = \"../x\""}, Options{}},
		"broken settings": {map[string]string{"linear.toml": "team_id = [", "README.md": "https://linear.app/acme/team/OPS/all"}, Options{Teams: []string{"OPS"}, Workspace: "acme"}},
		"links": {map[string]string{
			"CONTRIBUTING.md": "Take one of [ours](https://linear.app/acme/team/ENG/active), as https://linear.app/acme/issue/ops-12/x,",
			"README.md":       "https://linear.app/other/team/OTH and https://linear.app/acme/issue/ENG-1 https://linear.app/acme/project/x https://linear.app/",
		}, Options{Teams: []string{"ENG", "OPS"}, Workspace: "acme"}},
		"another site": {map[string]string{"README.md": "https://linear.app.evil.example/acme/team/ENG"}, Options{}},
		"large":        {map[string]string{"README.md": "https://linear.app/acme/team/ENG" + strings.Repeat(" ", maxFile)}, Options{}},
	} {
		top := t.TempDir()
		for file, text := range test.files {
			path := filepath.Join(top, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, ok := Detect(top)
		if !reflect.DeepEqual(got, test.want) || ok != (len(test.want.Teams) > 0) {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
		if ok {
			testProvider(t, got)
		}
	}
	if _, ok := Detect(filepath.Join(t.TempDir(), "nowhere")); ok {
		t.Error("nowhere")
	}
}

// TestDetectStaysInside: links out of the project are not followed.
func TestDetectStaysInside(t *testing.T) {
	outside, top := filepath.Join(t.TempDir(), "linear.toml"), t.TempDir()
	if err := os.WriteFile(outside, []byte("team_id = \"ENG\""), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(top, "linear.toml")); err != nil {
		t.Skip(err)
	}
	if got, ok := Detect(top); ok {
		t.Errorf("%+v", got)
	}
}
