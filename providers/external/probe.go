package external

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/providers"
)

// Probe looks at what the interface of a tracker does not show, with a process of its own: that the program passes over what it does not know in the handshake
// and in requests, refuses a request that it does not know, and ends with status 0 once its input does. It returns what is wrong, and writes nothing.
func (p *Provider) Probe(ctx context.Context) []error {
	path, err := find(p.program, p.opts.Env)
	if err != nil {
		return []error{err}
	}
	proc, err := launch(path, p.opts.Dir, p.opts.Env, p.opts.Stderr)
	if err != nil {
		return []error{fmt.Errorf("%s: %w: %w", p.program, providers.ErrUnavailable, err)}
	}
	if err := p.greet(ctx, proc, "to be passed over"); err != nil {
		return []error{plain(p.blame(proc, "a handshake with a field that it can't know", err))}
	}
	var wrong []error
	own := p.program + ": "
	unknown := &request{Op: "x-probe"}
	err = p.ask(ctx, proc, unknown, func(*answer) (bool, error) { return true, nil })
	var r *refusal
	switch {
	case errors.As(err, &r) && errors.Is(err, providers.ErrUnsupported):
	case err == nil:
		wrong = append(wrong, fmt.Errorf("%sit does not answer a request that it can't know with the error unsupported, but with no error", own))
	case errors.As(err, &r):
		wrong = append(wrong, fmt.Errorf("%sit does not answer a request that it can't know with the error unsupported, but with %w", own, r.error))
	default:
		return []error{p.blame(proc, "a request that it can't know", cause(err))}
	}
	example := p.opts.Name + ":" + proc.hello.Keys.Example
	var key string
	err = p.ask(ctx, proc, &request{Op: opParse, Text: example, Extra: map[string]string{"to be": "passed over"}}, func(a *answer) (bool, error) {
		if a.Key != nil {
			key = *a.Key
		}
		return true, nil
	})
	switch {
	case err != nil && !errors.As(err, &r):
		return append(wrong, p.blame(proc, "a request with a field that it can't know", cause(err)))
	case err != nil:
		wrong = append(wrong, fmt.Errorf("%sits example of a key, %q, can't be read: %w", own, example, r.error))
	case key != example:
		wrong = append(wrong, fmt.Errorf("%sits example of a key, %q, becomes %q", own, example, key))
	}
	_ = proc.in.Close() // a pipe
	if !proc.gone(p.opts.Grace) {
		wrong = append(wrong, fmt.Errorf("%sit goes on %v after its input has ended", own, p.opts.Grace))
	} else if status := proc.job.Wait(); status.Exit() != 0 {
		wrong = append(wrong, fmt.Errorf("%sit ends with status %d once its input has ended", own, status.Exit()))
	}
	proc.end(0)
	return wrong
}

// cause is what went wrong, without what was asked.
func cause(err error) error {
	var f *failure
	if errors.As(err, &f) {
		return f.error
	}
	return err
}
