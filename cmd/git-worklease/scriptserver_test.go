package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

func cmdServerGit(ts *testscript.TestScript, w *world, args []string) error {
	out, err := w.repo.Git(w.ctx, args...)
	fmt.Fprintln(ts.Stdout(), out)
	return err
}

func cmdServerHook(ts *testscript.TestScript, w *world, args []string) error {
	if err := need(args, 2); err != nil {
		return err
	}
	return w.repo.Hook(args[0], ts.ReadFile(args[1]))
}

func cmdTamper(_ *testscript.TestScript, w *world, args []string) error {
	if err := need(args, 3); err != nil {
		return err
	}
	ref := lease.DefaultPrefix + "claims/" + lease.EncodeName(args[0])
	message, err := w.repo.Git(w.ctx, "log", "-1", "--format=%B", ref)
	if err != nil {
		return err
	}
	if !strings.Contains(message, args[1]) {
		return fmt.Errorf("%q is not in %s", args[1], message)
	}
	return w.forge(ref, strings.ReplaceAll(message, args[1], args[2]))
}

func cmdForge(ts *testscript.TestScript, w *world, args []string) error {
	if err := need(args, 2); err != nil {
		return err
	}
	return w.forge(args[0], ts.ReadFile(args[1]))
}

// forge puts a commit with the empty tree at a ref, beside what stood there, not on top: the parent stays the one that the record names.
func (w *world) forge(ref, message string) error {
	tree, err := w.repo.Pipe(w.ctx, nil, "mktree")
	if err != nil {
		return err
	}
	args := []string{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", tree}
	if parent, err := w.repo.Git(w.ctx, "rev-parse", "--verify", "--quiet", ref+"^"); err == nil {
		args = append(args, "-p", parent)
	}
	oid, err := w.repo.Pipe(w.ctx, []byte(message), args...)
	if err != nil {
		return err
	}
	_, err = w.repo.Git(w.ctx, "update-ref", ref, oid)
	return err
}

// cmdRequests insists on how many requests the http server has had since it was asked last.
func cmdRequests(_ *testscript.TestScript, w *world, args []string) error {
	if w.open == nil {
		return fmt.Errorf("there is no http server")
	}
	all := w.open.Requests()
	since := all[w.asked:]
	w.asked = len(all)
	if len(args) == 0 {
		return nil
	}
	if want, err := strconv.Atoi(args[0]); err != nil || len(since) != want {
		return fmt.Errorf("%d requests instead of %s: %v", len(since), args[0], since)
	}
	return nil
}

// faultTimes are the requests that a fault can pick.
var faultTimes = map[string]gitserver.Match{
	"any": nil, "push": gitserver.Push, "read": gitserver.Fetch, "push-advert": gitserver.AdvertisePush, "read-advert": gitserver.AdvertiseFetch,
}

func cmdFault(_ *testscript.TestScript, w *world, args []string) error {
	s := w.open
	if s == nil {
		s = w.closed
	}
	switch {
	case s == nil:
		return fmt.Errorf("there is no http server")
	case len(args) == 1 && args[0] == "heal":
		s.Heal()
		return nil
	case len(args) == 1 && args[0] == "gone":
		return s.Close()
	}
	if err := need(args, 2); err != nil {
		return err
	}
	when, ok := faultTimes[args[0]]
	if !ok {
		return fmt.Errorf("no fault at %q", args[0])
	}
	do, err := faultAction(args[1])
	if err != nil {
		return err
	}
	s.Inject(gitserver.Fault{When: when, Do: do})
	return nil
}

func faultAction(what string) (gitserver.Action, error) {
	switch what {
	case "html":
		return gitserver.HTMLPage(), nil
	case "busy":
		return gitserver.TooMany(), nil
	case "lose":
		return gitserver.LoseReply, nil
	case "refuse":
		return gitserver.RefuseConnection, nil
	case "hang":
		return func(w http.ResponseWriter, r *http.Request, backend http.Handler, done <-chan struct{}) {
			gitserver.NewHold().Do(w, r, backend, done)
		}, nil
	}
	status, err := strconv.Atoi(what)
	if err != nil {
		return nil, fmt.Errorf("no fault %q", what)
	}
	return gitserver.Answer(status, "text/plain", http.StatusText(status)+"\n"), nil
}
