package backlogmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/providers"
)

const (
	// deadline is how long the backlog program may take. It starts in a second, and on a busy machine in several.
	deadline = time.Minute
	// maxOutput is the most bytes that are kept of what it writes.
	maxOutput = 64 << 10
)

// program is the backlog program, where it is installed and can be told of a change: it takes the project's statuses only, and takes lists of names apart at commas. Else it is empty.
func (p *Provider) program(t *task, c change) string {
	if p.opts.Program == "" || c.status != "" && p.states.spelling(c.status) != c.status {
		return ""
	}
	for _, name := range c.apply(field{kind: isList, list: t.item.Assignees}) {
		if strings.ContainsAny(name, ",\n") || strings.TrimSpace(name) != name || name == "" {
			return ""
		}
	}
	path, err := exec.LookPath(p.opts.Program)
	if err != nil {
		return ""
	}
	return path
}

// run tells the program of a change. It fails with [providers.ErrUnavailable], wrapped, where the program does.
func (p *Provider) run(ctx context.Context, program string, t *task, c change) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	args := []string{"task", "edit", t.item.ID, "--plain"}
	if c.status != "" {
		args = append(args, "--status="+c.status)
	}
	if len(c.add)+len(c.remove) > 0 {
		args = append(args, "--assignee="+strings.Join(c.apply(field{kind: isList, list: t.item.Assignees}), ","))
	}
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // it is the user's, and no shell reads the arguments
	cmd.Dir = filepath.Join(p.opts.Dir, filepath.FromSlash(p.place.home))
	env := p.opts.Env
	if env == nil {
		env = os.Environ()
	}
	cmd.Env = append(gitexec.Unbound(env, "BACKLOG_CWD"), "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1")
	cmd.WaitDelay = 2 * time.Second
	stdout, stderr := &bounded{}, &bounded{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if said := stderr.firstLine(); said != "" {
			return fmt.Errorf("backlog task edit %s: %w: %w: %s", t.item.ID, providers.ErrUnavailable, err, said)
		}
		return fmt.Errorf("backlog task edit %s: %w: %w", t.item.ID, providers.ErrUnavailable, err)
	}
	return nil
}

// bounded keeps the first bytes of what is written to it.
type bounded struct{ kept []byte }

func (b *bounded) Write(data []byte) (int, error) {
	b.kept = append(b.kept, data[:min(len(data), maxOutput-len(b.kept))]...)
	return len(data), nil
}

func (b *bounded) firstLine() string {
	lines := strings.Split(string(b.kept), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) != "" })
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(lines[i])
}
