package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/lease"
)

// MessageFile is the message of a commit that is being made.
type MessageFile struct {
	Path string
	// Typed says that a person has it in an editor, so that comments in it are dropped.
	Typed bool
	// Template is the file that the message began with; "" for none.
	Template string
}

// Message adds to the message of a commit the claims that cover what is committed, as trailers, and why a person passed without. An older trailer of the
// same resource is replaced. What is empty stays so, and other people's commits that are picked, rebased or merged stay as they are. It asks no remote.
func (g *Guard) Message(ctx context.Context, m MessageFile) error {
	if g.State == nil || !g.Law.HasRules() && g.Override == "" {
		return nil
	}
	text, err := os.ReadFile(m.Path)
	if err != nil {
		return err
	}
	if underWay, err := g.underWay(ctx); err != nil || underWay {
		return err
	}
	if empty, err := g.empty(ctx, m, string(text)); err != nil || empty {
		return err
	}
	trailers, err := g.trailers(ctx)
	if err != nil || len(trailers) == 0 {
		return err
	}
	if err := g.dropStale(ctx, m.Path, string(text), trailers); err != nil {
		return err
	}
	args := []string{"-c", "trailer.separators=:", "interpret-trailers", "--in-place", "--no-divider", "--where", "end", "--if-exists", "addIfDifferent", "--if-missing", "add"}
	for _, t := range trailers {
		args = append(args, "--trailer", t.key+": "+t.value)
	}
	_, err = g.Git.Output(ctx, append(args, m.Path)...)
	return err
}

// underWay says whether git is in the middle of something that makes commits of others' work.
func (g *Guard) underWay(ctx context.Context) (bool, error) {
	args := []string{"rev-parse"}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply"} {
		args = append(args, "--git-path", name)
	}
	out, err := g.Git.Output(ctx, args...)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), func(path string) bool {
		if !filepath.IsAbs(path) {
			path = filepath.Join(g.Git.Dir, path)
		}
		_, err := os.Lstat(path)
		return err == nil
	}), nil
}

// scissors is what stands below the message where git shows the change in the editor.
const scissors = " ------------------------ >8 ------------------------"

// empty says whether git will refuse the message for being empty, or the template that it was: a trailer would make it a commit.
func (g *Guard) empty(ctx context.Context, m MessageFile, text string) (bool, error) {
	body, err := g.body(ctx, text, m.Typed)
	if err != nil || strings.TrimSpace(body) == "" || m.Template == "" {
		return strings.TrimSpace(body) == "", err
	}
	template, err := os.ReadFile(m.Template)
	if err != nil {
		return false, nil //nolint:nilerr // git has not found it either
	}
	untouched, err := g.body(ctx, string(template), m.Typed)
	return err == nil && strings.TrimSpace(untouched) == strings.TrimSpace(body), err
}

// body is a message without what git drops, and without lines that it does not count.
func (g *Guard) body(ctx context.Context, text string, typed bool) (string, error) {
	if typed {
		var kept []string
		for line := range strings.Lines(text) {
			if strings.HasSuffix(strings.TrimRight(line, "\r\n"), scissors) {
				break
			}
			kept = append(kept, line)
		}
		out, err := g.Git.Pipe(ctx, []byte(strings.Join(kept, "")), "stripspace", "--strip-comments")
		if err != nil {
			return "", err
		}
		text = string(out)
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "Signed-off-by: ") })
	return strings.Join(lines, "\n"), nil
}

// trailer is one line to be added.
type trailer struct {
	key, value string
	// claim is what value says; zero where it is no claim.
	claim hooks.Trailer
}

func claimTrailer(m lease.Member) trailer {
	t := hooks.Trailer{Resource: m.Resource, Generation: m.Generation}
	return trailer{hooks.TrailerKey, t.String(), t}
}

// committed is the change that the index is about to become. Where nothing is staged, that is HEAD anew, with another message: then it is what HEAD
// changes. git does not tell a hook of --amend; an empty commit of its own looks the same, and names claims that it would not need.
func (g *Guard) committed(ctx context.Context) (hooks.Change, error) {
	c, err := hooks.Staged(ctx, g.Git, g.GitDir)
	if err != nil || len(c.Paths) > 0 {
		return c, err
	}
	head, err := hooks.Commits(ctx, g.Git, "-1", "HEAD")
	var failed *gitexec.Error
	switch {
	case errors.Is(err, hooks.ErrShallow), errors.As(err, &failed) && ctx.Err() == nil: // nobody can say, or there is none
		return c, nil
	case err != nil:
		return c, err
	}
	return hooks.ChangeOf(c.Branch, head), nil
}

// trailers are those of the commit that the index is about to become.
func (g *Guard) trailers(ctx context.Context) ([]trailer, error) {
	c, err := g.committed(ctx)
	if err != nil {
		return nil, err
	}
	ref := RefOf(c.Branch)
	if g.Law.Exempt(ref, g.Names...) {
		return nil, nil
	}
	needs, err := g.Law.Needs(c, ref, g.Names...)
	if err != nil {
		return nil, err
	}
	mine, err := g.held()
	if err != nil {
		return nil, err
	}
	standing := g.standing(mine.holds)
	all := covering(needs, standing)
	if g.passes() {
		open := hooks.Open(needs, resources(standing))
		if len(open) > 0 || len(g.Troubles) > 0 || len(g.against(ref, c.Paths, g.State.Glance().Paths, mine)) > 0 {
			all = append(all, trailer{key: hooks.OverrideKey, value: strings.Join(strings.Fields(g.Override), " ")})
		}
	}
	return all, nil
}

// covering are the claims that needs are met by. Where any will do, one that serves another need does.
func covering(needs []hooks.Need, holds []lease.Hold) []trailer {
	var members []lease.Member
	for i := range holds {
		members = append(members, holds[i].Members...)
	}
	var all []trailer
	add := func(m lease.Member) {
		t := claimTrailer(m)
		if !slices.ContainsFunc(all, func(o trailer) bool { return o.claim.Resource == t.claim.Resource }) {
			all = append(all, t)
		}
	}
	any := false
	for _, n := range needs {
		any = any || n.Kind == hooks.NeedAny
		for _, m := range members {
			hold := lease.Hold{Members: []lease.Member{m}}
			if n.Kind != hooks.NeedAny && serves(&hold, n) {
				add(m)
			}
		}
	}
	if any && len(all) == 0 && len(members) > 0 {
		add(members[len(members)-1])
	}
	slices.SortFunc(all, func(a, b trailer) int { return strings.Compare(a.value, b.value) })
	return all
}

// dropStale takes those trailers out of a message that are about the same resources as new ones.
func (g *Guard) dropStale(ctx context.Context, path, text string, now []trailer) error {
	out, err := g.Git.Pipe(ctx, []byte(text), "-c", "trailer.separators=:", "interpret-trailers", "--only-trailers", "--only-input", "--unfold", "--no-divider")
	if err != nil {
		return err
	}
	stale := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && strings.EqualFold(key, hooks.TrailerKey) && replaced(strings.TrimSpace(value), now) {
			stale[strings.TrimSpace(value)] = true
		}
	}
	if len(stale) == 0 {
		return nil
	}
	kept := withoutTrailers(text, stale)
	if kept == text {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(kept), info.Mode().Perm()); err != nil { //nolint:gosec // the file that git names
		return fmt.Errorf("the commit's message: %w", err)
	}
	return nil
}

// replaced says whether a trailer's value is about a resource that a new one is about, with another generation.
func replaced(value string, now []trailer) bool {
	old, err := hooks.ParseTrailer(value)
	return err == nil && slices.ContainsFunc(now, func(t trailer) bool { return t.claim.Resource == old.Resource && t.claim != old })
}

// withoutTrailers drops the last line of each value. A trailer that was folded is left: nobody folds these but by hand.
func withoutTrailers(text string, values map[string]bool) string {
	lines := slices.Collect(strings.Lines(text))
	gone := map[string]bool{}
	for i := len(lines) - 1; i >= 0; i-- {
		key, value, ok := strings.Cut(strings.TrimSpace(lines[i]), ":")
		value = strings.TrimSpace(value)
		if ok && strings.EqualFold(key, hooks.TrailerKey) && values[value] && !gone[value] {
			gone[value] = true
			lines = slices.Delete(lines, i, i+1)
		}
	}
	return strings.Join(lines, "")
}
