package fault

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reasons.md")

const docsPath = "../../docs/reasons.md"

// TestDocs compares the table with its documentation. Run it with -update after a change of the table.
func TestDocs(t *testing.T) {
	want := documentation()
	if *update {
		if err := os.WriteFile(docsPath, []byte(want), 0o644); err != nil { //nolint:gosec // documentation is for everybody
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docsPath)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/reasons.md does not match the table: run go test ./internal/fault -update")
	}
}

func documentation() string {
	var b strings.Builder
	b.WriteString("# Reasons\n\nEvery failure has a stable reason, in `error.reason` of the JSON output, and the exit status that goes with it. " +
		"This list is made from the table in `internal/fault`.\n\n| reason | exit | when | what to do |\n|---|---|---|---|\n")
	seen := map[string]bool{}
	for _, r := range append(Table(), Row{Reason: "internal", Exit: Unknown, Means: "a fault of this program", Hint: "report it"}) {
		if !seen[r.Reason] {
			fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", r.Reason, r.Exit, r.Means, r.Hint)
		}
		seen[r.Reason] = true
	}
	return b.String()
}

// TestTable checks that a reason has one meaning, and is written as reasons are.
func TestTable(t *testing.T) {
	exits := map[string]Exit{}
	for _, r := range Table() {
		if strings.Trim(r.Reason, "abcdefghijklmnopqrstuvwxyz-") != "" || r.Reason == "" {
			t.Errorf("%q is not kebab-case", r.Reason)
		}
		if exit, ok := exits[r.Reason]; ok && exit != r.Exit {
			t.Errorf("%s has exit %d and %d", r.Reason, exit, r.Exit)
		}
		exits[r.Reason] = r.Exit
		if r.Means == "" || len(r.errs) == 0 {
			t.Errorf("%s says not when it happens", r.Reason)
		}
		if strings.HasSuffix(r.Means, ".") || strings.HasSuffix(r.Hint, ".") {
			t.Errorf("%s ends with a full stop", r.Reason)
		}
	}
}
