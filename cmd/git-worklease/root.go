package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
)

const rootLong = `git worklease stops people and coding agents from working on the same thing twice.

A worker claims a piece of work before starting: an issue, a port, a deployment,
anything that has a name. Everybody else's claim on it is refused until it is
released or expires. The authority is the git remote that the team already has:
a claim is a commit at a ref under refs/worklease/, and the server itself decides
every change of it by compare-and-swap.

Without a command it shows what this session holds.

Exit status:
  0    done
  1    usage, configuration or policy file: fix the call
  2    unknown, the remote or this machine failed: treat nothing as free
  3    refused, another holder: take other work
  4    lost, or not held: stop writing
  5    nothing found
  6    refused by a policy, a server rule or a missing capability: ask a person
  130  interrupted

exec passes on its command's; 124 and 125 are its own.`

// commands make the commands, by their names.
func commands() map[string]func(*app) *cobra.Command {
	return map[string]func(*app) *cobra.Command{
		"claim": newClaim, "renew": newRenew, "release": newRelease, "verify": newVerify, "list": newList, "history": newHistory,
		"transfer": newTransfer, "check": newCheck, "checkpoint": newCheckpoint, "session": newSession, "exec": newExec, "gc": newGC,
		"watch": newWatch, "push": newPush, "heartbeat": newHeartbeat, "config": newConfig, "demo": newDemo, "sim": newSim,
		"completion": newCompletion, "version": newVersion, "doctor": newDoctor, "hooks": newHooks, "init": newInit, "uninstall": newUninstall,
		"key": newKey, "queue": newQueue,
	}
}

// newRoot is the command line, with all commands.
func newRoot(a *app) *cobra.Command {
	all := commands()
	return rootWith(a, slices.Sorted(maps.Keys(all))...)
}

// newRootFor is the command line as far as arguments ask for it: where they begin with a command, the others are left out. To make all of them takes longer
// than what most of them do by themselves.
func newRootFor(a *app, args []string) *cobra.Command {
	switch {
	case len(args) == 0:
		return rootWith(a)
	case commands()[args[0]] != nil:
		return rootWith(a, args[0])
	}
	return newRoot(a)
}

// rootWith is the command line with some commands.
func rootWith(a *app, names ...string) *cobra.Command {
	status := newStatus(a)
	root := &cobra.Command{
		Use:           "git-worklease",
		Short:         "claim pieces of work through the git remote that you already have",
		Long:          rootLong,
		Version:       a.version,
		Args:          noArguments,
		RunE:          status.RunE,
		SilenceErrors: true,
		SilenceUsage:  true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "git worklease"},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("git-worklease version {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &fault.UsageError{Message: err.Error(), Hint: "`" + cmd.CommandPath() + " -h` lists the flags"}
	})
	flags := root.PersistentFlags()
	flags.BoolVar(&a.flags.json, "json", false, "print one JSON document")
	for _, name := range []config.Name{config.Session, config.Agent, config.Operator, config.Remote, config.Timeout} {
		a.settingFlag(flags, name)
	}
	root.AddCommand(status)
	for _, name := range names {
		root.AddCommand(commands()[name](a))
	}
	root.CompletionOptions.DisableDefaultCmd = true
	a.completeSettings(root)
	for _, cmd := range root.Commands() {
		a.completeSettings(cmd)
		for _, inner := range cmd.Commands() {
			a.completeSettings(inner)
		}
	}
	return root
}

// shorthands are the short forms of flags that stand for settings.
var shorthands = map[config.Name]string{config.Session: "s", config.TTL: "t"}

// settingFlag adds the flag of a setting. Its value goes where all settings are judged.
func (a *app) settingFlag(flags *pflag.FlagSet, name config.Name) {
	for _, spec := range config.Specs() {
		if spec.Name == name {
			flags.VarP(&settingValue{name: spec.Flag, into: a.flags.settings}, spec.Flag, shorthands[name], usage(spec))
		}
	}
}

// usage describes the flag of a setting: what it is for, what it may be, and what it is if nobody says so.
func usage(spec config.Spec) string {
	text := spec.Help + ": " + spec.Want
	if spec.Default != "" {
		text += " (default " + spec.Default + ")"
	}
	return text
}

// completeSettings completes the flags of settings: some by words, none by files.
func (a *app) completeSettings(cmd *cobra.Command) {
	words := map[config.Name][]string{
		config.Takeover: {string(config.TakeoverStale), string(config.TakeoverDead)},
		config.Expiry:   {string(config.ExpiryClock), string(config.ExpiryObserved)},
	}
	for _, spec := range config.Specs() {
		switch {
		case spec.Flag == "" || cmd.LocalFlags().Lookup(spec.Flag) == nil:
		case spec.Name == config.Remote:
			_ = cmd.RegisterFlagCompletionFunc(spec.Flag, a.remotes) // the flag is there
		default:
			_ = cmd.RegisterFlagCompletionFunc(spec.Flag, cobra.FixedCompletions(words[spec.Name], cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// remotes completes the names of the configured remotes.
func (a *app) remotes(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	w, err := a.openSettings(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return w.repo.Remotes(), cobra.ShellCompDirectiveNoFileComp
}

// settingValue is a flag whose text is kept for package config.
type settingValue struct {
	name string
	into map[string]string
}

func (v *settingValue) String() string { return v.into[v.name] }
func (v *settingValue) Type() string   { return "string" }
func (v *settingValue) Set(s string) error {
	v.into[v.name] = s
	return nil
}

// noArguments refuses arguments. To the root they are a command that does not exist.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return &fault.UsageError{Message: fmt.Sprintf("%s: %q: it takes no arguments", commandWords(cmd), args[0])}
	}
	hint := "`" + cmd.CommandPath() + " -h` lists the commands"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return &fault.UsageError{Message: fmt.Sprintf("%q is no command", strings.TrimSpace(commandWords(cmd)+" "+args[0])), Hint: hint}
}

// commandWords are the command's words without the program's, such as "session use".
func commandWords(cmd *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath()))
}

// someKeys insists on at least one key, and knows why there may be none.
func someKeys(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return &fault.UsageError{
		Message: commandWords(cmd) + ": no key given",
		Hint:    "write the key, such as task:login; a shell takes an unquoted #42 for a comment",
	}
}
