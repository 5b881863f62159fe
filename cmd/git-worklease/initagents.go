package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// agentsFile is what coding agents of every make read.
const agentsFile = "AGENTS.md"

// The paragraph stands between two lines, so that it can be found again.
const (
	agentsBegin = "<!-- git-worklease: begin -->"
	agentsEnd   = "<!-- git-worklease: end -->"
)

const agentsText = agentsBegin + `
## Claim work before you do it

Several people and agents work here. Before you start on an issue, a path or anything else that two could start on, claim it:
` + "`git worklease claim KEY`" + ` (` + "`git worklease claim`" + ` alone: what this branch needs).

- Exit status 0: it is yours. 3: somebody else has it, take other work. 4: you have lost it, stop writing. 2: unknown, treat nothing as free.
- ` + "`git worklease status`" + ` shows what you hold, ` + "`git worklease list`" + ` what everybody does, ` + "`--json`" + ` prints either for programs.
- Claims expire: commits and pushes renew them, ` + "`git worklease exec --claim KEY -- COMMAND`" + ` holds one while a command runs.
- Push with ` + "`git worklease push`" + `: the push is refused if the claim was lost.
- When you are done: ` + "`git worklease release KEY`" + `, with ` + "`--outcome review`" + ` while it waits to be merged.
- A hook that refuses says which command to run. Don't go past it with --no-verify.
` + agentsEnd + "\n"

// initAgents adds the paragraph to AGENTS.md, or brings it up to date.
func (w *work) initAgents(j *initJSON) error {
	path := filepath.Join(w.repo.WorkTree, agentsFile)
	data, err := os.ReadFile(path) //nolint:gosec // in the work tree
	step := initStep{What: "agents", Did: didChange, Where: agentsFile}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		step.Did = didCreate
	case err != nil:
		return err
	}
	text := withParagraph(string(data))
	if text == string(data) {
		step.Did = didKeep
	} else {
		step.Text = text
	}
	j.Steps = append(j.Steps, step)
	if step.Text == "" || j.DryRun {
		return nil
	}
	return writeCommitted(path, step.Text)
}

// withParagraph is a text with the paragraph, in the place of an earlier one or at the end.
func withParagraph(text string) string {
	if before, after, ok := cutParagraph(text); ok {
		return before + agentsText + after
	}
	if text == "" {
		return agentsText
	}
	return strings.TrimRight(text, "\n") + "\n\n" + agentsText
}

// cutParagraph takes the paragraph out of a text.
func cutParagraph(text string) (before, after string, ok bool) {
	before, rest, ok := strings.Cut(text, agentsBegin)
	if !ok {
		return text, "", false
	}
	_, after, ok = strings.Cut(rest, agentsEnd)
	return before, strings.TrimPrefix(after, "\n"), ok
}
