package cligit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/localgit"
	"github.com/git-worklease/git-worklease/refstore/internal/localgit/objects"
	"github.com/git-worklease/git-worklease/refstore/internal/procgroup"
)

// Code is what a user wants to push: refs of the user's own repository, by the user's git, settings and hooks. [Code.Plan] finds out what
// that is, and [Code.Send] pushes it, with records beside it.
type Code struct {
	// Git runs git in the user's repository.
	Git *gitexec.Git
	// Config is the configuration there.
	Config *gitexec.Config
	// CommonDir is the git directory that its worktrees share, and Head the branch that is checked out, in full; empty: none is.
	CommonDir, Head string
	// Remote is a configured remote's name, or a URL; empty: git finds it.
	Remote string
	// URL is where that is.
	URL string
	// Options say what is pushed, and how it is judged; Manner holds for each request, such as --progress. Both are options of git push; --quiet is none of them,
	// since git would report nothing then.
	Options, Manner []string
	// Refspecs are the user's.
	Refspecs []string
	// HookEnv is added to the environment of the run in which the user's hooks take part.
	HookEnv []string
	// Dir is an empty folder that is there until the push has ended.
	Dir string
	// Stderr gets what git, its helpers, the user's hooks and the server write, as it comes. Nothing is asked for there.
	Stderr io.Writer
}

// ErrCodeRefused is returned where git or the server will not have the code, and nothing was changed. See [CodeError].
var ErrCodeRefused = errors.New("the push was refused")

// ErrCodeCall is returned where git can't make out what is to be pushed, or to where. See [CodeError].
var ErrCodeCall = errors.New("nothing that git could push")

// CodeError says how a push of code failed, that certainly has changed nothing.
type CodeError struct {
	// Err is [ErrCodeRefused], [ErrCodeCall] or a [*refstore.UnavailableError].
	Err error
	// Refs are those that were refused.
	Refs []CodeRef
	// Words are git's, unescaped. They were written to Stderr before.
	Words string
}

func (e *CodeError) Error() string {
	for _, r := range e.Refs {
		return fmt.Sprintf("%v: %s: %s", e.Err, r.To, r.Reason)
	}
	return e.Err.Error()
}

func (e *CodeError) Unwrap() error { return e.Err }

// Plan is what a push would do.
type Plan struct {
	// Refs are all refs that it is about, those included that are up to date.
	Refs []CodeRef
	// Atomic says whether the server can do it as a whole.
	Atomic bool
}

// Changes are the refs that would be changed.
func (p *Plan) Changes() []CodeRef {
	return slices.DeleteFunc(slices.Clone(p.Refs), func(r CodeRef) bool { return r.Same() })
}

// Plan asks git what a push would do, by a push in which nothing is sent. The user's pre-push hooks take part in it. The error is a [*CodeError].
func (c *Code) Plan(ctx context.Context) (*Plan, error) {
	var before map[string]refstore.OID
	var failure error
	var found sync.WaitGroup
	found.Go(func() { before, failure = c.branches(ctx) }) // git has found them by the time when it has reached the remote
	args := slices.Concat([]string{"push", "--dry-run", "--porcelain"}, c.Manner, c.Options, c.where(), c.Refspecs)
	run, err := c.run(ctx, c.HookEnv, args)
	found.Wait()
	if failure != nil && err == nil {
		return nil, c.local(failure)
	}
	if err != nil {
		return nil, c.failed(ctx, run, err)
	}
	plan := &Plan{Refs: run.refs, Atomic: run.trace.atomic}
	for i := range plan.Refs {
		if err := c.identify(ctx, &plan.Refs[i], before, run.trace); err != nil {
			return nil, c.local(err)
		}
	}
	return plan, nil
}

// where are the arguments that name the remote.
func (c *Code) where() []string {
	if c.Remote == "" {
		return nil
	}
	return []string{"--", c.Remote}
}

// branches are the tips of the local branches: what a hook is asked about may not be what they are at when it has answered. They are read in this process
// where that is possible, since git has much to start at the time.
func (c *Code) branches(ctx context.Context) (map[string]refstore.OID, error) {
	tips, err := localgit.New(localgit.Options{Dir: c.CommonDir, Git: c.Git, Now: time.Now}).Refs(ctx, []string{branchPrefix})
	if err != nil { // such as a repository of another object format
		var out []byte
		if out, err = c.Git.Output(ctx, "for-each-ref", "--format=%(objectname)%09%(refname)", branchPrefix); err == nil {
			tips, err = parseListing(out)
		}
	}
	maps.DeleteFunc(tips, func(_ string, oid refstore.OID) bool { return oid == refstore.Unreadable })
	if head, ok := tips[c.Head]; ok {
		tips["HEAD"] = head
	}
	return tips, err
}

const branchPrefix = "refs/heads/"

// identify finds the objects of a planned change.
func (c *Code) identify(ctx context.Context, r *CodeRef, before map[string]refstore.OID, tr *trace) error {
	r.Old = tr.advertised[r.To]
	if r.From == "" || r.Same() {
		return nil
	}
	if r.New = before[r.From]; r.New != "" && r.leadsTo(r.New) {
		return nil
	}
	out, err := c.Git.Output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", r.From)
	if r.New = refstore.OID(strings.TrimSpace(string(out))); err == nil && !r.leadsTo(r.New) {
		err = fmt.Errorf("%s was moved while the push was judged", r.From)
	}
	return err
}

// Send pushes what was planned, and tx, in one request that the server does as a whole or not at all. olds are the commits that tx builds upon. Without tx it
// pushes as git does without being asked for that. It runs no hook of the user's. The refs of the code come with git's word on each. Where nothing was
// changed the error is a [*CodeError] or an [*refstore.UnsupportedError], and an [*refstore.HalfAppliedError] where a server did a part; otherwise it is an
// [*refstore.UndecidedError].
func (c *Code) Send(ctx context.Context, plan *Plan, tx *refstore.Tx, olds []refstore.Object) ([]CodeRef, error) {
	args := slices.Concat(onceArgs(), []string{
		"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-force-if-includes",
	}, c.Manner)
	var refspecs []string
	for _, r := range plan.Changes() {
		if r.pinned {
			args = append(args, "--force-with-lease="+r.To+":"+string(r.Old))
		}
		refspecs = append(refspecs, string(r.New)+":"+r.To)
	}
	remote, env := c.Remote, []string(nil)
	if tx != nil {
		dir := objects.Dir{Path: filepath.Join(c.Dir, "objects"), Format: tx.Format, Fleeting: true}
		if err := dir.WriteTx(tx, olds...); err != nil {
			return nil, c.local(err)
		}
		aside, settings := c.aside(tx)
		settings = append(settings, setting{"advice.graftFileDeprecated", "false"})
		remote, env = aside, append(alternates(c.Git.Environ(), dir.Path), configEnv(c.Git.Environ(), settings)...)
		graft, remove, err := grafted(env, c.Dir, tx)
		if err != nil {
			return nil, c.local(err)
		}
		defer remove()
		env = graft
		args = append(args, "--atomic")
		for i := range tx.Updates {
			u := &tx.Updates[i]
			args = append(args, "--force-with-lease="+u.Ref+":"+string(u.Old))
			refspecs = append(refspecs, string(u.New)+":"+u.Ref)
		}
	}
	run, err := c.without(absent(olds)).run(ctx, env, slices.Concat(args, []string{"--", remote}, refspecs))
	refs := plan.told(run.refs)
	err = c.conclude(ctx, run, err, len(refspecs), tx != nil)
	var failure *CodeError
	switch {
	case err == nil && remote != c.Remote:
		c.track(ctx, plan)
	case errors.As(err, &failure):
		failure.rename(refs)
	}
	return refs, err
}

// rename gives refused refs the names that the user knows. Those in front are the ones that were refused for reasons of their own.
func (e *CodeError) rename(refs []CodeRef) {
	for i, refused := range e.Refs {
		for _, r := range refs {
			if r.To == refused.To {
				e.Refs[i] = r
			}
		}
	}
	slices.SortStableFunc(e.Refs, func(a, b CodeRef) int { return cmp.Compare(a.follows(), b.follows()) })
}

// absent are the parents of commits that a push builds upon. Nobody needs them.
func absent(olds []refstore.Object) []string {
	var words []string
	for _, old := range olds {
		headers, _, _ := strings.Cut(string(old.Content), "\n\n")
		for line := range strings.Lines(headers) {
			if parent, ok := strings.CutPrefix(line, "parent "); ok {
				words = append(words, strings.TrimSpace(parent))
			}
		}
	}
	return words
}

// without is c, but silent about some words.
func (c *Code) without(words []string) *Code {
	quieter := *c
	quieter.Stderr = &silence{to: c.Stderr, words: words}
	return &quieter
}

// conclude judges a push that was sent, by git's word on each ref, and where there is none, by whether anything can have been sent.
func (c *Code) conclude(ctx context.Context, run *codeRun, err error, wanted int, whole bool) error {
	var done []string
	refused := 0
	for _, r := range run.refs {
		switch {
		case r.Refused():
			refused++
		case !r.Same():
			done = append(done, r.To)
		}
	}
	complete := len(run.refs) == wanted && run.ended
	switch unsent := run.unsent() && gitexec.KindOf(c.URL) != gitexec.KindHelper; {
	case err == nil && complete && refused == 0:
		return nil
	case refused > 0 && unsent, complete && refused > 0 && (len(done) == 0 || !whole):
		return c.failed(ctx, run, err)
	case complete && refused > 0:
		return &refstore.HalfAppliedError{Applied: done}
	case unsent && whole && run.trace.advertised != nil && !run.trace.atomic:
		return &refstore.UnsupportedError{URL: gitexec.Redact(c.URL), Feature: refstore.FeatureAtomic}
	case unsent:
		return c.failed(ctx, run, err)
	case err == nil:
		err = errNoWord
	}
	return &refstore.UndecidedError{Err: c.unavailable(ctx, run, err)}
}

// Submodules pushes what `git push --recurse-submodules=on-demand` would of submodules, and nothing of this repository.
func (c *Code) Submodules(ctx context.Context) error {
	args := slices.Concat([]string{"push", "--recurse-submodules=only", "--no-verify", "--porcelain"}, c.Manner, c.Options, c.where(), c.Refspecs)
	run, err := c.run(ctx, nil, args)
	if err != nil {
		return c.failed(ctx, run, err)
	}
	return nil
}

// failed is the error of a push that certainly has changed nothing.
func (c *Code) failed(ctx context.Context, run *codeRun, err error) error {
	e := &CodeError{Words: run.words.String()}
	for _, r := range run.refs {
		if r.Refused() {
			e.Refs = append(e.Refs, r)
		}
	}
	var failure *gitexec.Error
	switch {
	case len(e.Refs) > 0:
		e.Err = ErrCodeRefused
	case !errors.As(err, &failure):
		e.Err = c.unavailable(ctx, run, err)
	case failure.Code == 1, failure.Code > 0 && run.trace.advertised != nil: // a hook, a refspec, or what git itself makes sure of
		e.Err = ErrCodeRefused
		if strings.Contains(e.Words, "src refspec") {
			e.Err = ErrCodeCall
		}
	case failure.Code > 0 && ctx.Err() == nil && !reached(e.Words):
		e.Err = ErrCodeCall
	default:
		e.Err = c.unavailable(ctx, run, err)
	}
	return e
}

// reached says whether words of git's are about a remote that was asked, or tried to be. Where git speaks another language they say nothing, and count as
// such.
func reached(words string) bool {
	for _, call := range []string{
		"has no upstream branch", "not currently on a branch", "No configured push destination", "usage: git push", "does not match the name of your current branch",
		"--tags and --", "can't be combined", "cannot be used together", "multiple branches", "doesn't make sense", "invalid refspec",
	} {
		if strings.Contains(words, call) {
			return false
		}
	}
	return true
}

func (c *Code) unavailable(ctx context.Context, run *codeRun, err error) *refstore.UnavailableError {
	u := &refstore.UnavailableError{URL: gitexec.Redact(c.URL), Trouble: classify(run.words.String()), Err: err}
	if cause := context.Cause(ctx); cause != nil {
		u.Trouble, u.Err = refstore.TroubleDeadline, cause
	}
	return u
}

// local is the error of what failed on this machine before anything was sent.
func (c *Code) local(err error) error {
	return &CodeError{Err: &refstore.UnavailableError{Trouble: refstore.TroubleLocal, Err: err}}
}

// codeRun is how one run of git push ended.
type codeRun struct {
	trace *trace
	refs  []CodeRef
	words tail
	// started and ended are as in outcome.
	started, ended bool
}

func (r *codeRun) unsent() bool {
	return !r.started || r.ended && r.trace.alive && !r.trace.commanded
}

// last is the last part of a URL, in which git shows it as it is.
func last(url string) string {
	return url[strings.LastIndexAny(strings.TrimRight(url, "/"), "/@:")+1:]
}

// run runs git push, and passes on what it writes.
func (c *Code) run(ctx context.Context, env, args []string) (*codeRun, error) {
	r := &codeRun{trace: &trace{}}
	g := *c.Git
	g.Interactive = true // it may have programs that answer for the user
	g.Env = append(slices.Clip(c.Git.Environ()), env...)
	if !c.Git.Interactive {
		g.Env = append(g.Env, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never")
	}
	traceEnv, file, err := traced(g.Env, c.Dir)
	if err != nil {
		return r, err
	}
	g.Env = traceEnv
	cmd := g.Command(ctx, args...)
	report := &porcelainSplit{rest: c.Stderr, url: last(c.URL)}
	cmd.Stdout, cmd.Stderr = report, io.MultiWriter(c.Stderr, &r.words)
	alone := !c.Git.Interactive && procgroup.Alone(cmd)
	if alone {
		cmd.Cancel = func() error { return procgroup.Kill(cmd) }
	}
	answered := c.Git.Ask()
	err = cmd.Run()
	answered()
	if s, ok := c.Stderr.(*silence); ok {
		_ = s.flush() // as far as it goes
	}
	r.started, r.ended = cmd.Process != nil, ctx.Err() == nil || alone
	r.refs, r.trace = report.refs(), readTrace(file)
	if errors.Is(err, exec.ErrWaitDelay) { // a process that git has started lives on, and has our pipe; git itself is done
		err = nil
	}
	if err != nil {
		err = gitexec.Failure(ctx, args[slices.Index(args, "push"):], r.words.String(), err)
	}
	return r, err
}
