package backlogmd

import (
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-worklease/git-worklease/providers"
)

// config is what we want of a project's configuration.
type config struct {
	project, directory string
	// prefix is that of tasks, in lower case.
	prefix string
	// statuses are the project's, from work that nobody has begun to that which is done; priorities from the most urgent.
	statuses, priorities []string
}

var (
	errPrefix  = errors.New("task_prefix is not a word of the letters A to Z, or is one that is reserved")
	errNotList = errors.New("it is not a list")
)

func readConfig(top *os.Root, where string) (*config, error) {
	data, err := readFile(top, where, nil)
	if err != nil {
		return nil, err
	}
	return parseConfig(where, string(data))
}

// parseConfig reads a configuration as the backlog program does: line by line, and YAML only for the value of a list. So what is no YAML elsewhere does no harm.
// It returns a [*providers.BrokenError].
func parseConfig(where, text string) (*config, error) {
	c := &config{prefix: "task"}
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		key, value, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		value = strings.NewReplacer("'", "", `"`, "").Replace(strings.TrimSpace(value))
		switch strings.TrimSpace(key) {
		case "project_name", "projectName":
			c.project = value
		case "backlog_directory", "backlogDirectory":
			c.directory = folderBelow(value)
		case "task_prefix":
			if !validPrefix(value) {
				return nil, &providers.BrokenError{Where: where, Line: i + 1, Err: errPrefix}
			}
			c.prefix = lower(value)
		}
	}
	var err error
	if c.statuses, err = listOf(where, lines, "statuses", []string{"To Do", "In Progress", "Done"}); err != nil {
		return nil, err
	}
	c.priorities, err = listOf(where, lines, "priorities", []string{"high", "medium", "low"})
	return c, err
}

// folderBelow is a folder as a configuration names it; empty for one that is not below the project, which the backlog program ignores as well.
func folderBelow(value string) string {
	value = path.Clean(strings.ReplaceAll(value, `\`, "/"))
	if value == "." || value == ".." || strings.HasPrefix(value, "../") || path.IsAbs(value) || strings.Contains(value, ":") {
		return ""
	}
	return value
}

func validPrefix(value string) bool {
	for _, c := range lower(value) {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return value != "" && len(value) <= 32 && !slices.Contains([]string{draftPrefix, "doc", "decision"}, lower(value))
}

var keyLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*[^\s#][^:]*:`) })

// listOf reads the list of a key: the last of that name at the first column, or anywhere if there is none, with the lines that go on from it.
func listOf(where string, lines []string, key string, otherwise []string) ([]string, error) {
	start, column := -1, 0
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, " \t")
		rest, found := strings.CutPrefix(trimmed, key)
		if indent := len(line) - len(trimmed); found && strings.HasPrefix(strings.TrimLeft(rest, " \t"), ":") && (start < 0 || indent == 0 || column > 0) {
			start, column = i, indent
		}
	}
	if start < 0 {
		return otherwise, nil
	}
	end := start + 1
	for ; end < len(lines); end++ {
		trimmed := strings.TrimLeft(lines[end], " \t")
		if len(lines[end])-len(trimmed) <= column && !strings.HasPrefix(trimmed, "- ") && keyLine().MatchString(trimmed) {
			break
		}
	}
	block := strings.ReplaceAll(strings.Join(lines[start:end], "\n"), "\r", "")
	fields, line, err := slow(block)
	if err == nil && len(fields) == 1 && fields[0].kind == isNull {
		return otherwise, nil
	}
	if err == nil && (len(fields) != 1 || fields[0].kind != isList) {
		err = errNotList
	}
	if err != nil {
		return nil, &providers.BrokenError{Where: where, Line: start + max(line, 1), Err: fmt.Errorf("%s: %w", key, err)}
	}
	var list []string
	for _, entry := range fields[0].list {
		if entry = strings.TrimSpace(entry); entry != "" {
			list = append(list, entry)
		}
	}
	if len(list) == 0 {
		return otherwise, nil
	}
	return list, nil
}
