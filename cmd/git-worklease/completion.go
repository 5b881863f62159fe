package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
)

// bashBridge lets git's own completion of `git worklease …` ask for ours. git calls a function of this name for a command that it does not know.
const bashBridge = `
_git_worklease() {
    local i
    for ((i = 1; i < ${#words[@]}; i++)); do
        if [[ ${words[i]} == worklease ]]; then
            words=(git-worklease "${words[@]:i+1}")
            ((cword -= i))
            break
        fi
    done
    COMP_WORDS=("${words[@]}")
    COMP_CWORD=$cword
    COMP_LINE="${words[*]}"
    COMP_POINT=${#COMP_LINE}
    __start_git-worklease
}
`

// zshProgram is where the script for zsh calls the program by its first word. zsh's own completion of git calls the script with the first word
// after git, so zshBridge makes that the program's name.
const (
	zshProgram = `requestComp="${words[1]} __complete `
	zshBridge  = `requestComp="${words[1]/#%worklease/git-worklease} __complete `
)

func newCompletion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "print the completion for a shell",
		Long: `Prints a script that completes git-worklease, and git worklease where git's own completion is
loaded. make install puts it where the shells look.`,
		Example:   "  git worklease completion bash > ~/.local/share/bash-completion/completions/git-worklease",
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "bash" || args[0] == "zsh" || args[0] == "fish") {
				return nil
			}
			return &fault.UsageError{Message: "completion: name one shell", Hint: "`git worklease completion bash`, or zsh, or fish"}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(func(context.Context, []string) (*outcome, error) {
				script, err := completion(cmd.Root(), args[0])
				if err != nil {
					return nil, err
				}
				return &outcome{result: script, text: func(p *printer) { p.printf("%s", script) }}, nil
			})(cmd, args)
		},
	}
}

func completion(root *cobra.Command, shell string) (string, error) {
	var b bytes.Buffer
	var err error
	name := root.Annotations[cobra.CommandDisplayNameAnnotation]
	delete(root.Annotations, cobra.CommandDisplayNameAnnotation) // scripts need the program's name
	defer func() { root.Annotations[cobra.CommandDisplayNameAnnotation] = name }()
	switch shell {
	case "bash":
		if err = root.GenBashCompletionV2(&b, true); err == nil {
			b.WriteString(bashBridge)
		}
	case "zsh":
		if err = root.GenZshCompletion(&b); err == nil {
			return strings.Replace(b.String(), zshProgram, zshBridge, 1), nil
		}
	case "fish":
		err = root.GenFishCompletion(&b, true)
	}
	if err != nil {
		return "", fmt.Errorf("completion for %s: %w", shell, err)
	}
	return b.String(), nil
}

// completeWords completes a flag by fixed words.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: a fault of this program that every run of it shows
	}
}
