package cligit

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// Commits reads what is here already, and fetches the rest into our repository.
func (t *transport) Commits(ctx context.Context, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	r, err := t.repo(t.format())
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	found, missing, err := t.walk(ctx, r, wants, depth)
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	if len(missing) == 0 {
		return found, nil
	}
	if depth == 1 {
		wants = missing
	}
	if err := t.obtain(ctx, r, wants, depth); err != nil {
		return nil, t.trouble(ctx, err)
	}
	again, _, err := t.walk(ctx, r, wants, depth)
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	if depth == 1 {
		again = append(found, again...)
	}
	return again, nil
}

func (t *transport) walk(ctx context.Context, r *repo, wants []refstore.OID, depth int) (found []refstore.Object, missing []refstore.OID, err error) {
	reader := r.objects.NewReader(func() *exec.Cmd {
		return t.unbound().Command(ctx, "--git-dir="+r.dir, "cat-file", "--batch")
	})
	found, missing, err = reader.Walk(ctx, wants, depth)
	if closed := reader.Close(); err == nil {
		err = closed
	}
	return found, missing, err
}

// fetchTries bounds how often a fetch is repeated for refs that moved between the listing and the fetch.
const fetchTries = 3

// obtain fetches wants. A server may refuse the whole request over one object that has ceased to be a tip, or that it has lost, so after a failure only those
// are asked for that still are tips, and not the one that it named; the rest is left out.
func (t *transport) obtain(ctx context.Context, r *repo, wants []refstore.OID, depth int) error {
	for try := 1; ; try++ {
		err := t.fetch(ctx, r, wants, depth)
		lost := lacked(err)
		if err == nil || ctx.Err() != nil || try >= fetchTries && lost == "" {
			return err
		}
		tips, listErr := t.Refs(ctx, []string{"refs/"})
		if listErr != nil {
			return err
		}
		current := make(map[refstore.OID]bool, len(tips))
		for _, oid := range tips {
			current[oid] = true
		}
		left := slices.DeleteFunc(slices.Clone(wants), func(oid refstore.OID) bool { return !current[oid] || oid == lost })
		switch {
		case len(left) == 0:
			return nil
		case len(left) == len(wants) && try >= fetchTries:
			return err
		}
		wants = left
	}
}

// lacked is the object that a server says it does not have, if that is what is wrong. The words are the same in all of git's languages.
func lacked(err error) refstore.OID {
	var failure *gitexec.Error
	if !errors.As(err, &failure) {
		return ""
	}
	_, rest, _ := strings.Cut(failure.Stderr, "not our ref ")
	word, _, _ := strings.Cut(rest, "\n")
	oid, err := refstore.ParseOID(strings.TrimSpace(word))
	if err != nil {
		return ""
	}
	return oid
}

func (t *transport) fetch(ctx context.Context, r *repo, wants []refstore.OID, depth int) error {
	dir, remove, err := r.scratch()
	if err != nil {
		return err
	}
	defer remove()
	g, args, err := t.command(ctx, dir, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--depth="+strconv.Itoa(depth), "--stdin", "--", t.o.URL)
	if err != nil {
		return err
	}
	g.Env = append(g.Env, "GIT_OBJECT_DIRECTORY="+r.objects.Path)
	var lines strings.Builder
	for _, oid := range wants {
		lines.WriteString(string(oid) + "\n")
	}
	_, err = run(ctx, g, args, []byte(lines.String()))
	return err
}
