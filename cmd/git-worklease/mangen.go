//go:build mangen

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/session"
)

// main, built with this tag, writes the man pages of all commands into a folder.
func main() {
	if err := writeManPages(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func writeManPages(dir string) error {
	root := newRoot(newApp(&env{version: version}))
	root.DisableAutoGenTag = true
	header := doc.GenManHeader{Title: "GIT-WORKLEASE", Section: "1", Source: "git-worklease " + version, Manual: "Git Manual"}
	if err := doc.GenManTree(root, &header, dir); err != nil {
		return err
	}
	path := filepath.Join(dir, "git-worklease.1")
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, after, ok := bytes.Cut(page, []byte("\n.SH SEE ALSO"))
	if !ok {
		return fmt.Errorf("%s: no section SEE ALSO", path)
	}
	more := "\n" + commandSection(root) + settingSection() + environmentSection() + fileSection
	return os.WriteFile(path, []byte(string(before)+more+".SH SEE ALSO"+string(after)), 0o644)
}

func commandSection(root *cobra.Command) string {
	b := &strings.Builder{}
	b.WriteString(".SH COMMANDS\n")
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			fmt.Fprintf(b, ".TP\n\\fB%s\\fP\n%s\n", roff(cmd.Use), roff(cmd.Short))
		}
	}
	return b.String()
}

// settingSection is made from the one table of settings.
func settingSection() string {
	b := &strings.Builder{}
	b.WriteString(".SH CONFIGURATION\n.PP\nA flag counts most, then the environment, then git\\(aqs configuration, then the policy file, then the default.\n")
	for _, spec := range config.Specs() {
		var where []string
		for _, place := range []struct{ prefix, name string }{{"--", spec.Flag}, {"", spec.Env}, {"git config ", spec.Git}, {"policy ", spec.Policy}} {
			if place.name != "" {
				where = append(where, place.prefix+place.name)
			}
		}
		text := spec.Help + ": " + spec.Want + "."
		if spec.Default != "" {
			text += " Default: " + spec.Default + "."
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fP\n%s\n", roff(strings.Join(where, ", ")), roff(text))
	}
	return b.String()
}

func environmentSection() string {
	b := &strings.Builder{}
	b.WriteString(".SH ENVIRONMENT\n.PP\nBesides the variables above, and git\\(aqs own:\n")
	for _, r := range session.Runtimes() {
		fmt.Fprintf(b, ".TP\n\\fB%s\\fP\nnames the session where nothing else does: the run of %s.\n", roff(r.Env), roff(r.Name))
	}
	b.WriteString(".TP\n\\fBNO_COLOR\\fP\nno colours, unless git\\(aqs color.worklease or color.ui says always.\n")
	return b.String()
}

const fileSection = `.SH FILES
.TP
\fB.worklease.toml\fP
the policy file, committed at the top of the work tree.
.TP
\fB$(git rev-parse --git-common-dir)/worklease/\fP
claims, private keys, writes that are not settled, and what was seen of the remote; outside of a repository below \fB$XDG_STATE_HOME/git-worklease/\fP.
.TP
\fBrefs/worklease/\fP
the claims, in the remote repository.
`

// roff writes text so that none of it is taken for a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
