//go:build mangen

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"
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
	return doc.GenManTree(root, &doc.GenManHeader{
		Title: "GIT-WORKLEASE", Section: "1", Source: "git-worklease " + version, Manual: "Git Manual",
	}, dir)
}
