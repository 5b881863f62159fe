package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// PolicyFile is the policy's name at the top of the work tree.
const PolicyFile = ".worklease.toml"

// policyVersion is the newest format of the policy file that is understood.
const policyVersion = 1

// The bounds of a policy file, which anybody may have written.
const (
	maxPolicy  = 1 << 20
	maxNesting = 8
)

// Policy is the committed policy file.
type Policy struct {
	// Found says that there is a file; everything else is empty where there is none.
	Found bool
	// Data is the file, without a byte order mark, for those who read its other sections.
	Data []byte
	// Requires is the version constraint; empty where there is none. See [Policy.Check].
	Requires Value[string]
	// Unknown are keys that this version doesn't know.
	Unknown []Unknown

	values  map[string]policyValue
	pools   []Pool
	enforce *Enforce // nil: the file does not speak of it
	// enforceAt is where the keys of [enforce] stand that are set.
	enforceAt map[string]Origin
	rules     []Rule
	tables    map[string][]*Table
}

type policyValue struct {
	text   string
	origin Origin
}

// ReadPolicy reads the policy at the top of a work tree. An empty workTree, as in a bare repository, has none. A link is
// followed as long as it stays within the work tree and out of its git directory. It returns an [*Error], with a policy where [ParsePolicy] does.
func ReadPolicy(workTree string) (*Policy, error) {
	if workTree == "" {
		return &Policy{}, nil
	}
	data, err := readPolicyFile(workTree)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Policy{}, nil
	case err != nil:
		return nil, &Error{Origin: policyOrigin(0), Want: "a readable file of at most 1 MiB within the work tree: " + err.Error(), Err: err}
	}
	return ParsePolicy(data)
}

func readPolicyFile(workTree string) ([]byte, error) {
	path := filepath.Join(workTree, PolicyFile)
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if info.Mode()&fs.ModeSymlink != 0 {
		if path, err = followInside(workTree, path); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path) //nolint:gosec // within the work tree
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	if err == nil && len(data) > maxPolicy {
		err = errors.New("too large")
	}
	return data, err
}

// followInside resolves a link and refuses one that leads out of the work tree, or into .git. A dangling one is an error,
// not a missing file.
func followInside(workTree, path string) (string, error) {
	root, err := filepath.EvalSymlinks(workTree)
	if err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("a link that leads nowhere: %v", err) //nolint:errorlint // not to be taken for a missing file
	}
	rel, err := filepath.Rel(root, target)
	if err != nil || !filepath.IsLocal(rel) || strings.EqualFold(strings.SplitN(filepath.ToSlash(rel), "/", 2)[0], ".git") {
		return "", errors.New("a link that leads out of the work tree")
	}
	return target, nil
}

func policyOrigin(line int) Origin {
	return Origin{Source: SourcePolicy, Name: PolicyFile, Line: line}
}

// ParsePolicy reads a policy file. A byte order mark and CRLF are accepted. Values are not judged here but by [Load], except
// those that are not of the right kind. It returns an [*Error]. Where only [pools], [enforce], a tracker, a view or a rule is at fault, the policy comes with the error:
// its settings can be used, and nothing may be judged by it.
func ParsePolicy(data []byte) (*Policy, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > maxPolicy {
		return nil, &Error{Origin: policyOrigin(0), Want: "at most 1 MiB"}
	}
	if line, ok := shallow(data); !ok {
		return nil, &Error{Origin: policyOrigin(line), Want: fmt.Sprintf("tables and arrays at most %d deep", maxNesting)}
	}
	var tree map[string]any
	if _, err := toml.Decode(string(data), &tree); err != nil {
		return nil, tomlError(err)
	}
	p := &Policy{Found: true, Data: data, values: map[string]policyValue{}}
	lines := keyLines(data)
	// First what says that this version may not be the right one to judge the rest.
	for _, take := range []func(map[string]any, map[string]int) error{p.takeRequires, p.takeVersion, p.takeValues} {
		if err := take(tree, lines); err != nil {
			return nil, err
		}
	}
	for _, take := range []func(map[string]any, map[string]int) error{p.takePools, p.takeTables, p.takeEnforce, p.takeRules} {
		if err := take(tree, lines); err != nil {
			return p, err
		}
	}
	return p, nil
}

// tomlError keeps the library's words and line, not its multi-line drawing.
func tomlError(err error) error {
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return &Error{Origin: policyOrigin(parse.Position.Line), Want: "TOML: " + parse.Message, Err: err}
	}
	return &Error{Origin: policyOrigin(0), Want: "TOML: " + err.Error(), Err: err}
}

// Check says whether the running version is one that the policy accepts. It returns a [*RequiresError], or an [*Error] for a
// constraint that can't be read.
func (p *Policy) Check(running string) error {
	if p.Requires.V == "" {
		return nil
	}
	ok, wellFormed := satisfies(running, p.Requires.V)
	switch {
	case !wellFormed:
		return &Error{Origin: p.Requires.Origin, Key: "requires", Value: p.Requires.V, Want: wantRequires}
	case !ok:
		return &RequiresError{Origin: p.Requires.Origin, Constraint: p.Requires.V, Version: running}
	}
	return nil
}

func (p *Policy) takeRequires(tree map[string]any, lines map[string]int) error {
	raw, ok := tree["requires"]
	if !ok {
		return nil
	}
	text, ok := raw.(string)
	p.Requires = Value[string]{text, policyOrigin(lines["requires"])}
	if _, wellFormed := satisfies("", text); !ok || !wellFormed {
		return &Error{Origin: p.Requires.Origin, Key: "requires", Value: fmt.Sprint(raw), Want: wantRequires}
	}
	return nil
}

func (p *Policy) takeVersion(tree map[string]any, lines map[string]int) error {
	raw, ok := tree["version"]
	if n, isInt := raw.(int64); !ok || isInt && n == policyVersion {
		return nil
	}
	return &Error{Origin: policyOrigin(lines["version"]), Key: "version", Value: fmt.Sprint(raw), Want: fmt.Sprint(policyVersion)}
}

// takeValues sorts the keys of the top level and of [lease] into those that the table of settings has, the sections of
// others, and unknown ones.
func (p *Policy) takeValues(tree map[string]any, lines map[string]int) error {
	for _, key := range sortedKeys(tree) {
		switch {
		case key == "lease":
			table, ok := tree[key].(map[string]any)
			if !ok {
				return &Error{Origin: policyOrigin(lines[key]), Key: key, Value: fmt.Sprint(tree[key]), Want: "a table"}
			}
			for _, name := range sortedKeys(table) {
				if err := p.take("lease."+name, table[name], lines); err != nil {
					return err
				}
			}
		case key == "version" || key == "requires" || isSection(key):
		default:
			if err := p.take(key, tree[key], lines); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Policy) take(key string, value any, lines map[string]int) error {
	origin := policyOrigin(lines[key])
	specs := Specs()
	at := slices.IndexFunc(specs, func(spec Spec) bool { return spec.Policy == key })
	if at < 0 {
		p.Unknown = append(p.Unknown, Unknown{Key: key, Origin: origin})
		return nil
	}
	text, ok := value.(string)
	if !ok {
		return &Error{Origin: origin, Key: key, Value: fmt.Sprint(value), Want: specs[at].Want + ", in quotes"}
	}
	p.values[key] = policyValue{text, origin}
	return nil
}

// isSection says whether key is a table of the policy that another package reads.
func isSection(key string) bool {
	switch key {
	case "enforce", "rule", "pools", "providers", "views":
		return true
	default:
		return false
	}
}
