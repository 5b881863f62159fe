package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/git-worklease/git-worklease/internal/child"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// execution is one run of a command under claims.
type execution struct {
	*app
	o       execOptions
	work    *work
	signals *child.Signals
	// holds are the claims that it runs under. made: they are its own, and end with it.
	holds []lease.Hold
	made  bool
	job   *child.Job
	// began and ended are when the command ran; zero where it did not.
	began, ended time.Time
	status       child.Status
}

func newExecution(a *app, o execOptions) *execution { return &execution{app: a, o: o} }

// run holds the claims, runs the command, and gives back what it took. Its error is whatever is not the command's own status.
func (x *execution) run(ctx context.Context) error {
	x.signals = child.Catch()
	defer x.signals.Release()
	early, stop := x.signals.Context(ctx)
	defer stop()
	w, _, err := x.openLong(early, nil)
	if err != nil {
		return interruption(early, err)
	}
	x.work = w
	defer w.close()
	// What follows has to work after a signal as well.
	ctx = context.WithoutCancel(ctx)
	if err := x.hold(early); err != nil {
		x.withdraw(ctx, early, err)
		return interruption(early, err)
	}
	stop()
	if early.Err() != nil {
		return errors.Join(context.Canceled, x.giveBack(ctx, "interrupted"))
	}
	return x.runUnder(ctx)
}

// interruption is err, or says that the user ended the run where that is why it failed.
func interruption(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, context.Canceled) {
		return errors.Join(err, context.Canceled)
	}
	return err
}

// runUnder runs the command under the claims.
func (x *execution) runUnder(ctx context.Context) error {
	git := x.work.git
	interactive := git.Interactive
	git.Interactive = false // the terminal is the command's
	keeping := newKeeping(x)
	err := x.start(keeping)
	if err != nil {
		git.Interactive = interactive
		return errors.Join(err, x.giveBack(ctx, "not started"))
	}
	over := keeping.follow(ctx)
	git.Interactive = interactive
	x.ended = x.clock.Now()
	return x.conclude(ctx, keeping, over)
}

// start starts the command.
func (x *execution) start(k *keeping) (err error) {
	in, _ := x.in.(*os.File)
	out, _ := x.out.(*os.File)
	complaints, _ := x.err.(*os.File)
	x.began = x.clock.Now()
	x.job, err = child.Start(child.Command{
		Args: x.o.command, Env: x.environment(), Dir: x.dir, Stdin: in, Stdout: out, Stderr: complaints, Proceed: k.stands,
	}, x.signals)
	if err != nil {
		x.began = time.Time{}
	}
	return err
}

// askEnd is how long the remote may take to say how a claim ended.
const askEnd = 10 * time.Second

// conclude finds out what it means how the command ended, and ends what exec claimed itself.
func (x *execution) conclude(ctx context.Context, k *keeping, over error) error {
	x.status = x.job.Wait()
	if k.lapsed.Claim != "" {
		return x.askWhoHas(ctx, k.lapsed, over)
	}
	why := fmt.Sprintf("exit %d", x.status.Code)
	switch {
	case over != nil:
		why = over.Error()
	case x.status.Signal != 0:
		why = fmt.Sprintf("signal %d", x.status.Signal)
	case x.status.Code == 0:
		why = ""
	}
	return errors.Join(over, x.giveBack(ctx, why))
}

// askWhoHas tells a claim that another took from one that only expired. It reads, and changes nothing.
func (x *execution) askWhoHas(ctx context.Context, h lease.Hold, over error) error {
	if !errors.Is(over, lease.ErrExpired) {
		return over
	}
	ctx, stop := x.signals.Context(ctx)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, askEnd)
	defer cancel()
	results, _ := x.work.lease.Verify(ctx, h.Members[0].Resource) // what can't be read is not known to be lost
	for _, r := range results {
		if errors.Is(r.Err, lease.ErrLost) {
			return r.Err
		}
	}
	return over
}

// giveBack releases what exec itself claimed: as done, or for the reason that is given as abandoned. Its error is that the claim was lost; where
// the release itself fails, a notice says what follows from that.
func (x *execution) giveBack(ctx context.Context, reason string) error {
	if !x.made {
		return nil
	}
	req := lease.ReleaseRequest{Resources: []lease.Resource{x.holds[0].Members[0].Resource}, Reason: reason, Outcome: lease.OutcomeDone}
	if reason != "" {
		req.Outcome = lease.OutcomeAbandoned
	}
	ctx, stop := x.signals.Context(ctx)
	defer stop()
	ctx, cancel := x.work.attempt(ctx)
	defer cancel()
	_, err := x.work.lease.Release(ctx, req)
	switch {
	case err == nil, errors.Is(err, lease.ErrNotHeld):
		return nil
	case errors.Is(err, lease.ErrLost):
		return err
	}
	f := fault.Explain(err, x.scene())
	x.notice("%s could not be released, and expires by itself: %s", term.Clean(string(req.Resources[0])), f.Message)
	return nil
}

// withdraw gives back what an interrupted claim may have taken.
func (x *execution) withdraw(ctx, interrupted context.Context, err error) {
	var p *lease.PendingError
	if interrupted.Err() == nil || !errors.As(err, &p) || p.Verb != lease.VerbClaim || p.Busy {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askEnd)
	defer cancel()
	_, _ = x.work.lease.Release(ctx, lease.ReleaseRequest{Resources: p.Resources[:1], Reason: "interrupted", Outcome: lease.OutcomeAbandoned}) // err is told
}
