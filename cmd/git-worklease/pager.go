package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// page writes text through git's pager where a person reads it on a terminal, as git itself does. Where the pager can't be started, the text is
// written as it is.
func (a *app) page(ctx context.Context, text []byte) error {
	if !isTerminal(a.out) || len(text) == 0 {
		return a.writeOut(text)
	}
	out, err := a.git().Output(ctx, "var", "GIT_PAGER")
	pager := strings.TrimSpace(string(out))
	if err != nil || pager == "" || pager == "cat" {
		return a.writeOut(text)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", pager) //nolint:gosec // the user's own setting, run as git runs it
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.dir, bytes.NewReader(text), a.out, a.err
	cmd.Env = slices.Concat(a.environ, []string{"GIT_PAGER_IN_USE=true"})
	for _, unlessSet := range []string{"LESS=FRX", "LV=-c"} { // what git sets
		if name, _, _ := strings.Cut(unlessSet, "="); a.getenv(name) == "" {
			cmd.Env = append(cmd.Env, unlessSet)
		}
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return a.writeOut(text)
	}
	return nil
}

func (a *app) writeOut(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if _, err := a.out.Write(text); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}
