package hooks

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// PolicyAt is the policy file of a commit; its Found is false where the commit has none. Links are followed within the commit. The revision must have been
// checked not to be an option. It returns a [*gitexec.Error] for a commit that isn't there, and a [*config.Error] for a file that can't be used.
func PolicyAt(ctx context.Context, g *gitexec.Git, revision string) (*config.Policy, error) {
	out, err := g.Output(ctx, "rev-parse", "-q", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, err
	}
	commit := strings.TrimSpace(string(out))
	out, err = g.Pipe(ctx, []byte(commit+":"+config.PolicyFile+"\n"), "cat-file", "--batch", "--follow-symlinks")
	if err != nil {
		return nil, err
	}
	head, body, _ := bytes.Cut(out, []byte("\n"))
	if bytes.HasSuffix(head, []byte(" missing")) {
		return &config.Policy{}, nil
	}
	// "<oid> blob <size>", or what became of a link: "dangling <size>", "symlink <size>" for one that leads out, "loop …", "notdir …".
	fields := strings.Fields(string(head))
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, &config.Error{
			Origin: config.Origin{Source: config.SourcePolicy, Name: config.PolicyFile},
			Want:   fmt.Sprintf("a file within commit %.12s", commit),
		}
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size > len(body) {
		return nil, fmt.Errorf("git cat-file: unexpected output %q", head)
	}
	return config.ParsePolicy(body[:size])
}
