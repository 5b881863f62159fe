package fault

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// elsewhere are exported errors that never reach a user, each with the reason.
var elsewhere = map[string]string{
	"refstore.ErrBadChange": "a fault of this program: changes are made by package lease",
	"lease.ErrIntentBusy":   "package lease turns it into ErrPending",
	"lease.ErrBreach":       "the server hook prints it to whoever pushes",
	"session.ErrNotBegun":   "a fault of this program",
	"fault.ErrUsage":        "in this package",
	"fault.ErrNothing":      "in this package",
}

// TestEveryErrorHasARow finds the exported errors of the packages below, and fails for one that the table does not name.
func TestEveryErrorHasARow(t *testing.T) {
	named := identifiers(t, "table.go")
	maps.Copy(named, identifiers(t, "provider.go"))
	for _, dir := range []string{"../../refstore", "../../lease", "../config", "../session", "../gitenv", "../child", "../../hooks", "../../hooks/install", "../../hooks/guard", "../../hooks/server", "../../refstore/remote", "../../providers", "../../queue"} {
		for _, name := range exportedErrors(t, dir) {
			full := filepath.Base(dir) + "." + name
			if !named[full] && elsewhere[full] == "" {
				t.Errorf("%s has no row", full)
			}
		}
	}
}

// exportedErrors lists the package-level variables of a package that are named Err….
func exportedErrors(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files (%v)", dir, err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, object := range f.Scope.Objects {
			if object.Kind == ast.Var && strings.HasPrefix(name, "Err") {
				names = append(names, name)
			}
		}
	}
	return names
}

// identifiers are the selector expressions of a file, as written.
func identifiers(t *testing.T, file string) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok {
				found[pkg.Name+"."+sel.Sel.Name] = true
			}
		}
		return true
	})
	return found
}
