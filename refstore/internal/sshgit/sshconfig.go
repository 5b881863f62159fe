package sshgit

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// configFiles are the files that OpenSSH reads, unless the command names another.
func configFiles(args []string) []string {
	for i, arg := range args {
		file, ok := strings.CutPrefix(arg, "-F")
		if !ok {
			continue
		}
		if file == "" && i+1 < len(args) {
			file = args[i+1]
		}
		if file == "none" {
			return nil
		}
		return []string{expandHome(file)}
	}
	return []string{filepath.Join(homeDir(), ".ssh", "config"), "/etc/ssh/ssh_config"}
}

// maxConfigs bounds how many files are read, each time that one is included.
const maxConfigs = 256

// scanConfig writes the content of files, and of those that they include, to digest, and says whether any speaks of shared
// connections, or whether there are too many to know. That is far cheaper than asking ssh, and if it finds nothing, ssh would not either.
func scanConfig(files []string, digest io.Writer) (mentioned bool) {
	for n := 0; len(files) > 0; n++ {
		if n == maxConfigs {
			return true
		}
		var more []string
		if content, err := os.ReadFile(files[0]); err == nil {
			_, _ = digest.Write(append([]byte(files[0]+"\x00"), content...))
			var here bool
			here, more = scanFile(files[0], content)
			mentioned = mentioned || here
		}
		files = slices.Concat(more, files[1:])
	}
	return mentioned
}

// scanFile says whether a file speaks of shared connections, and which files it includes.
func scanFile(file string, content []byte) (mentioned bool, includes []string) {
	for line := range bytes.Lines(content) {
		keyword, value := keywordOf(string(line))
		switch keyword {
		case "controlmaster", "controlpath", "controlpersist":
			mentioned = true
		case "include":
			includes = append(includes, included(file, value)...)
		}
	}
	return mentioned, includes
}

func keywordOf(line string) (keyword, value string) {
	line = strings.TrimSpace(line)
	end := strings.IndexAny(line, " \t=")
	if end < 0 {
		return strings.ToLower(line), ""
	}
	return strings.ToLower(line[:end]), strings.TrimLeft(line[end:], " \t=")
}

// included are the files that the patterns of an Include match. They count from the folder of the user's or the system's files.
func included(by, patterns string) []string {
	var files []string
	all, _ := words(patterns)
	for _, p := range all {
		p = expandHome(p)
		if !filepath.IsAbs(p) {
			base := filepath.Join(homeDir(), ".ssh")
			if strings.HasPrefix(by, "/etc/ssh/") {
				base = "/etc/ssh"
			}
			p = filepath.Join(base, p)
		}
		if matches, err := filepath.Glob(p); err == nil {
			files = append(files, matches...)
		}
	}
	return files
}

func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(homeDir(), rest)
	}
	return path
}

// sharesItself says whether the output of `ssh -G` shows a shared connection that the user has set up.
func sharesItself(effective []byte) bool {
	for line := range bytes.Lines(effective) {
		keyword, value := keywordOf(string(line))
		switch {
		case keyword == "controlmaster" && value != "false" && value != "no":
			return true
		case keyword == "controlpath" && value != "none":
			return true
		}
	}
	return false
}
