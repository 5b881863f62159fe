package main

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/lease"
)

// versionJSON is the contract of a version for programs.
type versionJSON struct {
	Version string `json:"version"`
	// Schema is that of the JSON documents, Record that of the records.
	Schema int    `json:"schema_version"`
	Record int    `json:"record_version"`
	Go     string `json:"go"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(context.Context, []string) (*outcome, error) {
			v := versionJSON{
				Version: a.version, Schema: schemaVersion, Record: lease.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
			}
			return &outcome{result: v, text: func(p *printer) { p.printf("git-worklease version %s\n", v.Version) }}, nil
		}),
	}
}
