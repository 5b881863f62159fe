package cligit

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// asideName is the remote that stands for the user's where that one's fetch refspecs map records: git would write them into the clone.
const asideName = "worklease-aside"

// aside is the remote to push to, and the settings that make it. It is the user's own unless that would leave records in the clone.
func (c *Code) aside(tx *refstore.Tx) (remote string, settings []setting) {
	specs := c.fetchSpecs()
	maps := false
	for i := range tx.Updates {
		_, mapped := mapRef(specs, tx.Updates[i].Ref)
		maps = maps || mapped
	}
	if !maps {
		return c.Remote, nil
	}
	prefix := "remote." + c.Remote + "."
	for _, s := range c.Config.WithPrefix(prefix) {
		switch name := strings.TrimPrefix(s.Key, prefix); name {
		case "fetch", "push", "mirror", "prune", "prunetags", "tagopt", "skipfetchall", "skipdefaultupdate":
		default:
			settings = append(settings, setting{"remote." + asideName + "." + name, s.Value})
		}
	}
	return asideName, settings
}

// fetchSpecs are the fetch refspecs of the remote; a URL has none.
func (c *Code) fetchSpecs() []string { return c.Config.All("remote." + c.Remote + ".fetch") }

// mapRef is where refspecs put a ref of the remote.
func mapRef(specs []string, ref string) (local string, ok bool) {
	for _, spec := range specs {
		if strings.HasPrefix(spec, "^") {
			if _, out := matchSpec(spec[1:], "", ref); out {
				return "", false
			}
			continue
		}
		from, to, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if name, match := matchSpec(from, to, ref); match && to != "" && local == "" {
			local = name
		}
	}
	return local, local != ""
}

// matchSpec matches a ref with one side of a refspec, and says what the other makes of it.
func matchSpec(from, to, ref string) (name string, ok bool) {
	before, after, pattern := strings.Cut(from, "*")
	if !pattern {
		return to, from == ref
	}
	if len(ref) < len(before)+len(after) || !strings.HasPrefix(ref, before) || !strings.HasSuffix(ref, after) {
		return "", false
	}
	return strings.Replace(to, "*", ref[len(before):len(ref)-len(after)], 1), true
}

// track does what git does after a push to a remote of the user's: it lets the remote-tracking refs follow.
func (c *Code) track(ctx context.Context, plan *Plan) {
	var lines strings.Builder
	for _, r := range plan.Changes() {
		local, ok := mapRef(c.fetchSpecs(), r.To)
		switch {
		case !ok:
		case r.New.IsZero():
			fmt.Fprintf(&lines, "delete %s\n", local)
		default:
			fmt.Fprintf(&lines, "update %s %s\n", local, r.New)
		}
	}
	if _, err := c.Git.Pipe(ctx, []byte(lines.String()), "update-ref", "-m", "update by push", "--stdin"); err != nil {
		_, _ = fmt.Fprintf(c.Stderr, "warning: %v\n", err) // the push is done
	}
}

// alternates is the environment in which git finds the objects of dir as well.
func alternates(env []string, dir string) []string {
	const name = "GIT_ALTERNATE_OBJECT_DIRECTORIES="
	if strings.ContainsAny(dir, "\"\n"+string(os.PathListSeparator)) {
		dir = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(dir) + `"`
	}
	for _, entry := range env {
		if others, ok := strings.CutPrefix(entry, name); ok && others != "" {
			dir = others + string(os.PathListSeparator) + dir
		}
	}
	return []string{name + dir}
}

// configEnv hands settings to git beside those that env hands over already.
func configEnv(env []string, settings []setting) []string {
	if len(settings) == 0 {
		return nil
	}
	n := 0
	for _, entry := range env {
		if count, ok := strings.CutPrefix(entry, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(count) // git refuses what is no number
		}
	}
	var more []string
	for _, s := range settings {
		more = append(more, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s.value))
		n++
	}
	return append(more, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}
