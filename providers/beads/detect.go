package beads

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// folder is where bd keeps what it has, at the top of the work tree.
const folder = ".beads"

// The files of the folder.
const (
	exportFile   = folder + "/issues.jsonl"
	configFile   = folder + "/config.yaml"
	metadataFile = folder + "/metadata.json"
)

// maxSettings is how many bytes a file of settings may have, and a line of the export.
const maxSettings = 1 << 20

// Detect says whether a work tree's project uses Beads, and with which settings. It runs nothing. The folder alone is not enough: it may hold other
// things of bd's.
func Detect(dir string) (Settings, bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Settings{}, false
	}
	defer func() { _ = root.Close() }()
	there := func(file string) bool {
		info, err := root.Stat(file)
		return err == nil && info.Mode().IsRegular()
	}
	if !there(exportFile) && !there(configFile) && !there(metadataFile) {
		return Settings{}, false
	}
	found, err := prefixes(Options{Dir: dir})
	if err != nil {
		found = nil // Open will say so
	}
	return Settings{Prefixes: found}, true
}

// prefixes are those of the settings, else those that the folder names.
func prefixes(opts Options) ([]string, error) {
	if len(opts.Prefixes) > 0 {
		for _, prefix := range opts.Prefixes {
			if !isPrefix(lower(prefix)) || len(prefix) > maxID/2 {
				return nil, &providers.BrokenError{Where: "providers.beads.prefixes", Err: fmt.Errorf("%q is no prefix of IDs; expected one such as demo", prefix)}
			}
		}
		return opts.Prefixes, nil
	}
	var found []string
	add := func(prefix string) {
		if prefix = strings.TrimSuffix(prefix, "-"); isPrefix(lower(prefix)) && len(prefix) <= maxID/2 && !slices.Contains(found, prefix) {
			found = append(found, prefix)
		}
	}
	config, err := readSettings(opts.Dir, configFile)
	if err != nil {
		return nil, err
	}
	add(issuePrefix(config))
	first, err := firstID(opts.Dir)
	if err != nil {
		return nil, err
	}
	add(prefixIn(first))
	if len(found) > 0 {
		return found, nil
	}
	metadata, err := readSettings(opts.Dir, metadataFile)
	if err != nil {
		return nil, err
	}
	for _, prefix := range databasePrefixes(metadata) {
		add(prefix)
	}
	return found, nil
}

// openFile opens a plain file of a folder, without leaving that by a link. It returns [fs.ErrNotExist], wrapped, where there is none.
func openFile(dir, file string) (*os.File, int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(file)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("not a plain file")
	}
	f, err := root.Open(file)
	return f, info.Size(), err
}

// readSettings reads a file of settings; one that isn't there is empty.
func readSettings(dir, file string) ([]byte, error) {
	f, _, err := openFile(dir, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &providers.BrokenError{Where: file, Err: err}
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(data) > maxSettings {
		err = fmt.Errorf("it has more than %d bytes", maxSettings)
	}
	if err != nil {
		return nil, &providers.BrokenError{Where: file, Err: err}
	}
	return data, nil
}

// firstID is the ID of the first issue in the export; empty where the beginning of that has none.
func firstID(dir string) (string, error) {
	f, _, err := openFile(dir, exportFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", &providers.BrokenError{Where: exportFile, Err: err}
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings))
	if err != nil {
		return "", &providers.BrokenError{Where: exportFile, Err: err}
	}
	for line := range bytes.Lines(withoutMark(data)) {
		var r struct {
			Type string `json:"_type"`
			ID   string `json:"id"`
		}
		if json.Unmarshal(line, &r) == nil && (r.Type == "" || r.Type == issueType) && isID(lower(r.ID)) {
			return r.ID, nil
		}
	}
	return "", nil
}

// issuePrefix is the top-level setting of that name in a YAML file that is read by lines: a plain or quoted text, as bd writes it.
func issuePrefix(config []byte) string {
	for line := range bytes.Lines(withoutMark(config)) {
		key, value, found := strings.Cut(strings.TrimRight(string(line), "\r\n"), ":")
		if !found || key != "issue-prefix" && key != "issue_prefix" {
			continue
		}
		if value = strings.TrimSpace(value); value != "" && (value[0] == '"' || value[0] == '\'') {
			value, _, _ = strings.Cut(value[1:], value[:1])
		} else {
			value, _, _ = strings.Cut(value, " #")
		}
		return strings.TrimSpace(value)
	}
	return ""
}

// databasePrefixes are the prefixes that a database's name may stand for: bd puts underscores for their hyphens.
func databasePrefixes(metadata []byte) []string {
	var m struct {
		Database string `json:"dolt_database"`
	}
	if json.Unmarshal(metadata, &m) != nil || m.Database == "" {
		return nil
	}
	return []string{m.Database, strings.ReplaceAll(m.Database, "_", "-")}
}

// prefixIn is what an ID has before the part that bd made up: before its last hyphen where a number follows, three letters or digits, or up to eight with
// a digit among them; else before its first, as in "demo-login-page", which a person made up.
func prefixIn(id string) string {
	last := strings.LastIndexByte(id, '-')
	if last < 0 {
		return ""
	}
	made, _, _ := strings.Cut(lower(id[last+1:]), ".")
	digits := 0
	for i := range len(made) {
		if !alphanumeric(made[i]) {
			return id[:strings.IndexByte(id, '-')]
		}
		if made[i] <= '9' {
			digits++
		}
	}
	if digits == len(made) || len(made) == 3 || len(made) <= 8 && digits > 0 {
		return id[:last]
	}
	return id[:strings.IndexByte(id, '-')]
}

// withoutMark is data without the mark that some editors put before UTF-8.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }
