package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
)

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "show the settings", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &fault.UsageError{Message: "config: no command given", Hint: cmd.CommandPath() + " show"}
		},
	}
	cmd.AddCommand(newConfigShow(a))
	return cmd
}

type configOptions struct{ origin, check bool }

func newConfigShow(a *app) *cobra.Command {
	var o configOptions
	cmd := &cobra.Command{
		Use:   "show",
		Short: "show the settings that hold here",
		Long: `Shows every setting and its value. A flag counts most, then the variable WORKLEASE_..., then
git config worklease...., then the policy file .worklease.toml, then the default.`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runConfig(ctx, o) }),
	}
	cmd.Flags().BoolVar(&o.origin, "show-origin", false, "say where each value comes from")
	cmd.Flags().BoolVar(&o.check, "check", false, "fail for keys that this version does not know")
	for _, name := range []config.Name{config.TTL, config.Grace, config.Takeover, config.Expiry} {
		a.settingFlag(cmd.Flags(), name)
	}
	return cmd
}

// settingJSON is one setting for programs.
type settingJSON struct {
	Name   config.Name `json:"name"`
	Value  string      `json:"value"`
	Origin string      `json:"origin"`
}

func (a *app) runConfig(ctx context.Context, o configOptions) (*outcome, error) {
	w, err := a.openSettings(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range w.settings.Unknown {
		if o.check {
			return nil, &config.Error{Origin: u.Origin, Key: u.Key, Value: u.Key, Want: "a key that this version knows"}
		}
		a.notice("%s: unknown key %s", term.Clean(u.Origin.String()), term.Clean(u.Key))
	}
	js := []settingJSON{}
	for _, s := range w.settings.All() {
		js = append(js, settingJSON{Name: s.Name, Value: gitexec.Redact(s.Value), Origin: s.Origin.String()})
	}
	return &outcome{result: js, text: func(p *printer) { printSettings(p, js, o.origin) }}, nil
}

func printSettings(p *printer, settings []settingJSON, origin bool) {
	t := &term.Table{}
	for _, s := range settings {
		if origin {
			t.Row(string(s.Name), term.Clean(s.Value), term.Clean(s.Origin))
			t.Style(2, term.Dim)
			continue
		}
		t.Row(string(s.Name), term.Clean(s.Value))
	}
	p.table(t)
}
