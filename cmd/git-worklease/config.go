package main

import (
	"context"
	"fmt"

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
			return &fault.UsageError{Message: "config: no command given", Hint: "`" + cmd.CommandPath() + " show`"}
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
		Long: `Shows every setting and the value that holds. A flag counts most, then the variable
WORKLEASE_..., then git config worklease...., then the policy file .worklease.toml, then the
default, which for some is found out: the remote, the session, the agent, the host. What
begins with enforce. is said by the policy file alone; hooks hold to the stricter of the one
here and the one at the remote's default branch.`,
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
	Error  *failure    `json:"error,omitempty"`
}

func (a *app) runConfig(ctx context.Context, o configOptions) (*outcome, error) {
	a.judges = true // it shows what is judged by
	w, err := a.openSettings(ctx)
	if w == nil || w.settings == nil {
		return nil, err
	}
	for _, u := range w.settings.Unknown {
		if o.check {
			return nil, fmt.Errorf("%s: unknown key %s: %w", u.Origin, u.Key, config.ErrConfig)
		}
		a.notice("%s: unknown key %s", term.Clean(u.Origin.String()), term.Clean(u.Key))
	}
	found := map[config.Name]string{}
	if err == nil {
		found = w.found(ctx)
	}
	js := []settingJSON{}
	for _, s := range w.settings.All() {
		j := settingJSON{Name: s.Name, Value: gitexec.Redact(s.Value), Origin: s.Origin.String()}
		if j.Value == "" {
			j.Value = found[s.Name]
		}
		if s.Name == config.Session && s.Origin.IsDefault() && w.identity.Session != "" {
			j.Origin = w.identity.Source()
		}
		if s.Bad != nil {
			j.Error = a.explain(s.Bad)
		}
		js = append(js, j)
	}
	return &outcome{result: js, failure: err, text: func(p *printer) { printSettings(p, js, o.origin) }}, nil
}

// found is what holds for settings that nobody set. What can't be found out is left out: the command that needs it will say why.
func (w *work) found(ctx context.Context) map[config.Name]string {
	found := map[config.Name]string{}
	if err := w.chooseRemote(ctx); err == nil {
		found[config.Remote] = w.remote.Name
		if w.remote.Name == "" {
			found[config.Remote] = gitexec.Redact(w.url)
		}
		if err := w.identify(); err == nil {
			found[config.Session], found[config.Agent], found[config.Host] = w.identity.Session, w.identity.Agent, w.identity.Host
			found[config.StateDir] = w.place.Root
		}
	}
	return found
}

func printSettings(p *printer, settings []settingJSON, origin bool) {
	t := &term.Table{}
	for _, s := range settings {
		cells := []string{string(s.Name), term.Clean(s.Value), ""}
		if origin {
			cells[2] = term.Clean(s.Origin)
		}
		if s.Error != nil {
			cells[2] = s.Error.Message
		}
		t.Row(cells...)
		t.Style(2, term.Dim)
		if s.Error != nil {
			t.Style(1, term.Bad)
		}
	}
	p.table(t)
}
