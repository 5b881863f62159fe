package server

import (
	"context"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// longestNames bounds, in bytes, the names that one run of git is given: 32 KiB are all that Windows takes.
const longestNames = 16 << 10

// readTips is what stands at refs, of which each is named in full, or by all that they begin with, up to a slash. Nothing else asks git for a ref by its
// name: where there is none, to most of git's commands the name stands for a tag or a branch that anybody may have called so.
func readTips(ctx context.Context, g *gitexec.Git, names ...string) (map[string]refstore.OID, error) {
	tips := map[string]refstore.OID{}
	for len(names) > 0 {
		n, size := 0, 0
		for n < len(names) && (n == 0 || size+len(names[n]) < longestNames) {
			size += len(names[n]) + 1
			n++
		}
		out, err := g.Output(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname)", "--"}, names[:n]...)...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			tips[name] = refstore.OID(oid)
		}
		names = names[n:]
	}
	return tips, nil
}

// readTips finds the default branch, and what stands at the refs that matter.
func (j *judge) readTips(ours, branches []update) error {
	var names []string
	for _, u := range ours {
		names = append(names, u.ref)
	}
	if len(ours) > 0 {
		names = append(names, j.meta())
	}
	if len(branches) > 0 {
		j.head = "HEAD"
		if branch, err := hooks.Branch(j.ctx, j.Git, j.Dir); err == nil && branch != "" {
			j.head = heads + branch
		}
		names = append(names, j.head)
	}
	for _, u := range branches {
		names = append(names, u.ref)
	}
	var err error
	if j.tips, err = readTips(j.ctx, j.Git, names...); err != nil || j.head != "HEAD" {
		return err
	}
	head, err := j.objects.read("HEAD", 0) // which is there, whatever it holds
	j.tips[j.head] = head.id
	return err
}

// standsAt is the record at one of them.
func (j *judge) standsAt(ref string) (refstore.Ref, error) {
	if tip := j.tips[ref]; !tip.IsZero() {
		return j.objects.record(ref, string(tip))
	}
	return refstore.Ref{Name: ref}, nil
}

func (j *judge) meta() string { return j.Settings.Prefix + "meta" }
