package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// errOtherCommit is returned where git made another commit of a record than this program does.
var errOtherCommit = errors.New("git made another commit of it")

const (
	claimsPerSession = 100
	seedTTL          = 24 * time.Hour
)

// addClaims puts n genuine claims into a repository: they are claimed in memory, by sessions of a hundred claims each, and
// imported in one stream.
func addClaims(ctx context.Context, repo *gitserver.Repo, n int) error {
	origin := &memory.Repository{}
	for first := 0; first < n; first += claimsPerSession {
		if err := claimSome(ctx, origin, first, min(first+claimsPerSession, n)); err != nil {
			return err
		}
	}
	return importRefs(ctx, repo, origin)
}

// claimSome claims the resources numbered from first to just before end, in one session.
func claimSome(ctx context.Context, origin *memory.Repository, first, end int) error {
	session := fmt.Sprintf("run-%d", first/claimsPerSession)
	local := lease.NewMemoryLocal(session)
	authority, err := lease.New(lease.Options{
		Store:     refstore.New(origin.Transport(), refstore.Options{Check: lease.CheckCommit}),
		Local:     local,
		Clock:     &lease.SystemClock{},
		MayCreate: true,
		Holder:    lease.Holder{Agent: "seed", Session: session, Host: "build-7"},
		Terms:     lease.Terms{TTL: seedTTL},
	})
	if err != nil {
		return err
	}
	for i := first; i < end; i++ {
		request := lease.ClaimRequest{Resources: []lease.Resource{seedResource(i)}, Purpose: fmt.Sprintf("change number %d", i)}
		if _, err := authority.Claim(ctx, request); err != nil {
			return fmt.Errorf("claim %d: %w", i, err)
		}
	}
	return nil
}

func seedResource(i int) lease.Resource { return lease.Resource(fmt.Sprintf("task:seed-%d", i)) }

// importRefs copies all refs of origin, whose commits have no parents that matter, and checks that git made the same commits.
func importRefs(ctx context.Context, repo *gitserver.Repo, origin *memory.Repository) error {
	refs := origin.Refs()
	objects, err := origin.Transport().Commits(ctx, slices.Collect(maps.Values(refs)), 1)
	if err != nil {
		return err
	}
	commits := map[refstore.OID]refstore.Commit{}
	for _, o := range objects {
		if commits[o.OID], err = refstore.DecodeCommit(refstore.SHA1, o.OID, o.Content); err != nil {
			return err
		}
	}
	var stream bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		c := commits[refs[name]]
		ident := fmt.Sprintf("git-worklease <worklease@localhost> %d +0000", c.When.Unix())
		fmt.Fprintf(&stream, "commit %s\nauthor %s\ncommitter %s\ndata %d\n%s\n\n", name, ident, ident, len(c.Message), c.Message)
	}
	if _, err := repo.Pipe(ctx, stream.Bytes(), "fast-import", "--quiet"); err != nil {
		return err
	}
	imported, err := repo.Refs(ctx, lease.DefaultPrefix)
	if err != nil {
		return err
	}
	for name, oid := range refs {
		if imported[name] != string(oid) {
			return fmt.Errorf("%s: %w: %s, not %s", name, errOtherCommit, imported[name], oid)
		}
	}
	return nil
}
