package beads

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// The bounds of what bd may write, to its standard output and to the other. A hundred thousand issues with their descriptions are some tens of megabytes.
const (
	maxAnswer = 64 << 20
	maxWords  = 64 << 10
)

// refusal is bd's exit with 1, which stands for all that it won't do: no such issue, claimed by another, no database.
type refusal struct {
	command string
	// words are what bd said, which is for people to read.
	words string
	code  int
}

func (e *refusal) Error() string {
	if e.words == "" {
		return fmt.Sprintf("bd %s: exit status %d", e.command, e.code)
	}
	return fmt.Sprintf("bd %s: %s", e.command, e.words)
}

// Is says that a refusal is [providers.ErrUnavailable]: whoever knows better looks at the issue itself.
func (*refusal) Is(target error) bool { return target == providers.ErrUnavailable }

// run runs bd, and returns what it wrote to its standard output. It returns a [*refusal] where bd ended with anything but 0.
func (p *Provider) run(ctx context.Context, command string, args ...string) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	cmd := exec.CommandContext(within, p.program, append([]string{command, "--json"}, args...)...) //nolint:gosec // the user's own bd; IDs come after "--", values after "="
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.dir, p.env, time.Second
	stdout, stderr := &bounded{max: p.maxAnswer, full: cancel}, &bounded{max: maxWords}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well, and left a server behind that has its standard output open
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("bd %s: %w", command, ctx.Err())
	case stdout.over:
		return nil, &providers.BrokenError{Where: "bd " + command, Err: fmt.Errorf("it wrote more than %d bytes", p.maxAnswer)}
	case within.Err() != nil:
		return nil, fmt.Errorf("bd %s gave no answer within %v: %w", command, p.timeout, providers.ErrUnavailable)
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return nil, &refusal{command: command, words: words(stdout.kept.Bytes(), stderr.kept.Bytes()), code: exit.ExitCode()}
	case err != nil:
		return nil, fmt.Errorf("bd %s: %w: %w", command, providers.ErrUnavailable, err)
	}
	return stdout.kept.Bytes(), nil
}

// bounded takes the first max bytes. Where full is set, more is an error, and is called for it; else more is dropped.
type bounded struct {
	kept bytes.Buffer // not embedded: its ReadFrom would get around the bound
	max  int
	over bool
	full func()
}

func (b *bounded) Write(data []byte) (int, error) {
	room := b.max - b.kept.Len()
	if len(data) <= room {
		return b.kept.Write(data)
	}
	b.over = true
	b.kept.Write(data[:room])
	if b.full != nil {
		b.full()
		return room, errors.New("too much")
	}
	return len(data), nil
}

// words are what bd said about a failure: in a document on its standard output, or in the first line of its standard error.
func words(stdout, stderr []byte) string {
	if _, said, err := answer(stdout); err == nil && said != "" {
		return clip(said)
	}
	if _, said, err := answer(stderr); err == nil && said != "" {
		return clip(said)
	}
	for line := range strings.Lines(string(stderr)) {
		if line = strings.TrimSpace(line); line != "" {
			return clip(strings.TrimPrefix(line, "Error: "))
		}
	}
	return ""
}

// answer takes the issues, or the failure, out of what bd wrote: a list, one alone, or either of them as the data of an envelope.
func answer(data []byte) (issues []json.RawMessage, failure string, err error) {
	for range 2 {
		if data = bytes.TrimSpace(withoutMark(data)); len(data) == 0 {
			return nil, "", errors.New("it wrote nothing")
		}
		if data[0] != '{' {
			break
		}
		var envelope struct {
			Error string          `json:"error"`
			Data  json.RawMessage `json:"data"`
			ID    string          `json:"id"`
		}
		switch err := json.Unmarshal(data, &envelope); {
		case err != nil:
			return nil, "", plain(err)
		case envelope.Error != "":
			return nil, envelope.Error, nil
		case envelope.ID != "":
			return []json.RawMessage{data}, "", nil
		case envelope.Data == nil:
			return nil, "", errors.New("it wrote an object that is no issue")
		}
		data = envelope.Data
	}
	if err := json.Unmarshal(data, &issues); err != nil {
		return nil, "", plain(err)
	}
	return issues, "", nil
}

// ask runs bd, and returns the issues that it wrote.
func (p *Provider) ask(ctx context.Context, command string, args ...string) ([]json.RawMessage, error) {
	out, err := p.run(ctx, command, args...)
	if err != nil {
		return nil, err
	}
	issues, failure, err := answer(out)
	switch {
	case err != nil:
		return nil, &providers.BrokenError{Where: "bd " + command, Err: err}
	case failure != "":
		return nil, &refusal{command: command, words: clip(failure)}
	}
	return issues, nil
}

// listProgram has bd list all issues. Gates are among them where bd has them, since others wait for them.
func (p *Provider) listProgram(ctx context.Context) ([]entry, *troubles, error) {
	issues, err := p.ask(ctx, "list", "--all", "--limit=0", "--include-gates")
	if refused := (*refusal)(nil); errors.As(err, &refused) && strings.Contains(refused.words, "unknown flag") {
		issues, err = p.ask(ctx, "list", "--all", "--limit=0")
	}
	if err != nil {
		return nil, nil, err
	}
	cut := 0
	if len(issues) > maxItems {
		issues, cut = issues[:maxItems], maxItems+1
	}
	entries := make([]entry, len(issues))
	for i, data := range issues {
		entries[i] = entry{where: "bd list", data: data}
		if len(data) > maxLine {
			entries[i].err = fmt.Errorf("an issue has more than %d bytes", maxLine)
		}
	}
	return decodeAll(ctx, entries, cut)
}

// show has bd show one issue alone. It is nil where bd has none of exactly that ID at hand, or doesn't say: then the list knows.
func (p *Provider) show(ctx context.Context, id string) (*record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	issues, err := p.ask(ctx, "show", "--", p.spelled(id))
	if errors.As(err, new(*refusal)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, data := range issues {
		r, err := decode(data)
		if err != nil {
			return nil, &providers.BrokenError{Where: "bd show", Err: err}
		}
		if r != nil && r.id == id {
			return r, nil
		}
	}
	return nil, nil
}
