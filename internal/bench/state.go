package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// state is what a repository holds before it is measured.
type state string

// The states.
const (
	few       state = "few"       // one branch
	foreign   state = "20k refs"  // and 20,000 refs that are none of ours, each on a commit of its own
	fiveThous state = "5k claims" // and 5,000 claims
)

const (
	foreignRefs = 20_000
	seedClaims  = 5_000
)

// build makes a repository in the state.
func (s state) build(ctx context.Context, repos *gitserver.Repos) (*gitserver.Repo, error) {
	repo, err := repos.NewRepo(ctx, "template-"+string(s[0]))
	if err != nil {
		return nil, err
	}
	if _, err := repo.Seed(ctx); err != nil {
		return nil, err
	}
	switch s {
	case foreign:
		err = addForeignRefs(ctx, repo)
	case fiveThous:
		err = addClaims(ctx, repo, seedClaims)
	}
	if err != nil {
		return nil, err
	}
	_, err = repo.Git(ctx, "pack-refs", "--all")
	return repo, err
}

// addForeignRefs makes pull requests, say: one commit each, in one pack. There is no commit-graph, as right after
// they were pushed.
func addForeignRefs(ctx context.Context, repo *gitserver.Repo) error {
	var stream bytes.Buffer
	for i := range foreignRefs {
		message := fmt.Sprintf("Change %d\n", i)
		fmt.Fprintf(&stream, "commit refs/pull/%d/head\ncommitter Some One <someone@example.com> %d +0000\ndata %d\n%s", i, 1_700_000_000+i, len(message), message)
		fmt.Fprintf(&stream, "from refs/heads/main^0\nM 100644 inline file-%d.txt\ndata %d\n%s\n", i, len(message), message)
	}
	_, err := repo.Pipe(ctx, stream.Bytes(), "fast-import", "--quiet")
	return err
}
