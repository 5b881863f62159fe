package doctor

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/doctor.md")

const docsPath = "../../docs/doctor.md"

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
		t.Errorf("docs/doctor.md does not match the table: run go test ./internal/doctor -update")
	}
}

func documentation() string {
	var b strings.Builder
	b.WriteString(`# What doctor finds

` + "`git worklease doctor`" + ` examines what claims depend on. Each finding has a stable ID, ` + "`id`" + ` in the JSON output, and a level: ` + "`ok`" + `, ` + "`note`" + ` (worth
knowing), ` + "`warning`" + ` (works, with a drawback or a risk) or ` + "`problem`" + ` (claims can't be made, kept or judged). The exit status is 0 unless there is a problem,
and then the one that fits the worst: 2 unknown, 6 forbidden, 1 configuration. This list is made from the table in ` + "`internal/doctor`" + `.

| finding | about |
|---|---|
`)
	for _, k := range Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.ID, k.About)
	}
	return b.String()
}

// TestEveryIDIsDocumented compares the constants with the table.
func TestEveryIDIsDocumented(t *testing.T) {
	documented := map[string]int{}
	for _, k := range Kinds() {
		documented[string(k.ID)]++
		if strings.Trim(string(k.ID), "abcdefghijklmnopqrstuvwxyz-") != "" || k.About == "" || strings.HasSuffix(k.About, ".") {
			t.Errorf("%+v is not written as such rows are", k)
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "ids.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			n++
			if id := strings.Trim(lit.Value, `"`); documented[id] != 1 {
				t.Errorf("%s is documented %d times", id, documented[id])
			}
		}
		return true
	})
	if n != len(Kinds()) || n == 0 {
		t.Errorf("%d IDs and %d rows", n, len(Kinds()))
	}
}
