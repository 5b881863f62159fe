// Package worklease_test holds the rules of the house that a compiler doesn't know.
package worklease_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/git-worklease/git-worklease/"

// levels orders the packages: each imports only those of a lower level. A package that is not here shares the level of the
// nearest one above it in the tree, its owner; it may import its owner and the owner's other inner packages, and the owner
// imports none of them.
var levels = map[string]int{
	// Tools without knowledge of the subject.
	"internal/gitexec":  -2,
	"internal/child":    -2,
	"internal/glob":     -2,
	"internal/lockfile": -2,
	"internal/term":     -2,
	"internal/gitenv":   -1,

	"refstore":  0,
	"providers": 0,

	"lease":               1,
	"internal/config":     1,
	"providers/github":    1,
	"providers/beads":     1,
	"providers/backlogmd": 1,
	"providers/linear":    1,
	"providers/external":  1,

	"internal/session":  2,
	"internal/coalesce": 2,
	"providers/conform": 2,

	"queue": 3,
	"batch": 3,
	"hooks": 3,

	"internal/fault": 4,

	"internal/doctor": 5,
	"internal/sim":    5,

	"mcp":       5,
	"tui":       5,
	"dashboard": 5,

	"cmd/git-worklease": 6,
}

// outside are the packages that serve tests, measurements and the build. They import what they like, and are imported by
// nothing above.
var outside = []string{"internal/gitserver", "internal/bench", "internal/proof", "internal/proof/tally", "internal/proof/report", "refstore/refstoretest", "providers/providertest"}

// testMachinery must not be in the released binary.
var testMachinery = []string{
	"testing", "github.com/anishathalye/porcupine", "pgregory.net/rapid", "github.com/rogpeppe/go-internal/testscript",
	"github.com/getkin/kin-openapi/openapi3",
	module + "internal/gitserver", module + "internal/proof", module + "internal/proof/tally", module + "refstore/refstoretest", module + "providers/providertest",
}

const (
	maxFileLines     = 400
	maxFunctionLines = 80
)

func TestPackagesImportOnlyLowerLevels(t *testing.T) {
	for _, p := range goList(t, "-json=ImportPath,Imports", "./...") {
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours || slices.Contains(outside, name) {
			continue
		}
		if _, known := owner(name); !known {
			t.Errorf("%s has no level; give it one here", name)
			continue
		}
		for _, imported := range p.Imports {
			if target, ours := strings.CutPrefix(imported, module); ours {
				if why := forbidden(name, target); why != "" {
					t.Errorf("%s imports %s: %s", name, target, why)
				}
			}
		}
	}
}

// forbidden says why a package may not import another; "" if it may.
func forbidden(from, to string) string {
	if slices.Contains(outside, to) {
		return "that one is not for the released binary"
	}
	fromOwner, _ := owner(from)
	toOwner, known := owner(to)
	switch {
	case !known:
		return "that one has no level"
	case fromOwner == toOwner && from == fromOwner:
		return "an owner does not import its inner packages"
	case fromOwner == toOwner:
		return ""
	case levels[toOwner] >= levels[fromOwner]:
		return fmt.Sprintf("level %d must not import level %d", levels[fromOwner], levels[toOwner])
	}
	return ""
}

// owner is the package whose level is that of name: itself or the nearest above it that has one.
func owner(name string) (string, bool) {
	for ; name != "."; name = filepath.ToSlash(filepath.Dir(name)) {
		if _, ok := levels[name]; ok {
			return name, true
		}
	}
	return "", false
}

func TestForbiddenImports(t *testing.T) {
	tests := []struct {
		from, to string
		allowed  bool
	}{
		{"lease", "refstore", true},
		{"refstore", "lease", false},
		{"refstore", "refstore/remote", false},
		{"refstore/remote", "refstore", true},
		{"refstore/remote", "refstore/internal/httpgit", true},
		{"refstore/internal/httpgit", "lease", false},
		{"refstore/internal/httpgit", "internal/gitexec", true},
		{"providers/github", "providers", true},
		{"providers/github", "providers/linear", false},
		{"lease", "internal/config", false},
		{"internal/gitexec", "refstore", false},
		{"cmd/git-worklease", "internal/gitserver", false},
		{"cmd/git-worklease", "nowhere", false},
	}
	for _, test := range tests {
		if why := forbidden(test.from, test.to); (why == "") != test.allowed {
			t.Errorf("%s imports %s: %q, want allowed: %v", test.from, test.to, why, test.allowed)
		}
	}
}

func TestReleasedBinaryHasNoTestMachinery(t *testing.T) {
	deps := goList(t, "-deps", "-json=ImportPath", "./cmd/git-worklease")
	if len(deps) < 2 {
		t.Fatalf("the binary is made of %v", deps)
	}
	for _, p := range deps {
		if slices.Contains(testMachinery, p.ImportPath) {
			t.Errorf("the released binary contains %s", p.ImportPath)
		}
	}
}

type listed struct {
	ImportPath string
	Imports    []string
}

// goList runs `go list`, and returns the packages that it names.
func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-buildvcs=false"}, args...)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("go list: %s", failed.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	files := token.NewFileSet()
	for _, path := range goFiles(t) {
		parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		if lines := files.File(parsed.Pos()).LineCount(); lines > maxFileLines {
			t.Errorf("%s has %d lines, more than %d", path, lines, maxFileLines)
		}
		for name, lines := range functions(files, parsed) {
			if lines > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", path, name, lines, maxFunctionLines)
			}
		}
	}
}

// functions maps the functions that a file declares to the number of lines between their first and last.
func functions(files *token.FileSet, file *ast.File) map[string]int {
	lengths := map[string]int{}
	for _, declaration := range file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok {
			first, last := files.Position(f.Pos()).Line, files.Position(f.End()).Line
			lengths[fmt.Sprintf("%s (line %d)", f.Name.Name, first)] = last - first - 1
		}
	}
	return lengths
}

// goFiles are the module's Go files.
func goFiles(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (entry.Name()[0] == '.' || entry.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go"):
			found[path] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found["layers_test.go"] {
		here, _ := os.Getwd()
		t.Fatalf("%s is not the module's root", here)
	}
	return slices.Sorted(maps.Keys(found))
}
