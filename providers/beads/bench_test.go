package beads

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkList lists ten thousand issues of the export, some six megabytes: a tenth are children, a fifth waits for others, half are closed.
func BenchmarkList(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		links, status := "", "open"
		if i%2 == 1 {
			status = "closed"
		}
		if i%5 == 0 && i > 0 {
			links = fmt.Sprintf(`,"dependencies":[{"issue_id":"demo-%x","depends_on_id":"demo-%x","type":"blocks","created_at":"2026-11-29T13:40:39Z","created_by":"alice","metadata":"{}"}]`, i, i-1)
		} else if i%10 == 1 {
			links = fmt.Sprintf(`,"dependencies":[{"issue_id":"demo-%x","depends_on_id":"demo-%x","type":"parent-child","created_at":"2026-11-29T13:40:39Z","created_by":"alice","metadata":"{}"}]`, i, i/100*10)
		}
		fmt.Fprintf(&text, `{"_type":"issue","id":"demo-%x","title":"Issue %d of a project","description":"%s","status":"%s","priority":%d,"issue_type":"task","owner":"a@b","created_at":"2026-11-29T13:%02d:12Z","created_by":"alice","updated_at":"2026-11-29T13:40:12Z","labels":["core","codec"]%s,"dependency_count":0,"dependent_count":0,"comment_count":0}`+"\n",
			i, i, strings.Repeat("What is to be done. ", 8), status, i%5, i%60, links)
	}
	dir := b.TempDir()
	p := benchProject(b, dir, text.String())
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if l, err := p.List(b.Context(), nil); err != nil || len(l.Items) != 10_000 || !l.Complete() {
			b.Fatal(l, err)
		}
	}
}

func benchProject(b *testing.B, dir, text string) *Provider {
	b.Helper()
	if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, exportFile), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	p, err := Open(Options{Dir: dir, Settings: Settings{FileOnly: true}})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// TestExportIsReadFast: what bd writes of most issues is not left to the library, which takes several times as long.
func TestExportIsReadFast(t *testing.T) {
	for _, line := range []string{exported, good, project[0]} {
		if r, ok := fast([]byte(line)); !ok || r.ID == "" {
			t.Errorf("left to the library: %s", line)
		}
	}
}
