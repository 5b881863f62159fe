package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// errStatus is returned for a command that ended with another status than it should.
var errStatus = errors.New("unexpected exit status")

// command is one process.
type command struct {
	user *gitserver.Checkout
	argv []string
	// env is added to the user's.
	env []string
	// stdin is what it reads.
	stdin []byte
	// want is the exit status.
	want int
}

// contender is one way to do what a group is about.
type contender struct {
	name string
	// prepare makes what the nth sample needs, untimed, and returns its processes, which are timed one after the other.
	prepare func(ctx context.Context, n int) ([]command, error)
}

// sample is one measurement.
type sample struct {
	took time.Duration
	// processor is the time of the process, and of those that it started and waited for, in user and system mode.
	processor time.Duration
	// peak is the largest resident set, in bytes; 0 where the system doesn't tell.
	peak int64
}

// sample measures the nth sample of the contender.
func (c contender) sample(ctx context.Context, n int) (sample, error) {
	commands, err := c.prepare(ctx, n)
	if err != nil {
		return sample{}, fmt.Errorf("prepare: %w", err)
	}
	var total sample
	for _, cmd := range commands {
		s, err := cmd.run(ctx)
		if err != nil {
			return sample{}, err
		}
		total.took += s.took
		total.processor += s.processor
		total.peak = max(total.peak, s.peak)
	}
	return total, nil
}

// run times the process from exec to exit. Its output goes to files, so that a child that stays in the background, such
// as a shared ssh connection, is not waited for.
func (c command) run(ctx context.Context) (sample, error) {
	output, err := os.CreateTemp("", "worklease-bench-output-")
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = os.Remove(output.Name()) }()
	defer func() { _ = output.Close() }()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Env = c.user.Dir, append(slices.Clone(c.user.Env), c.env...)
	cmd.Stdout, cmd.Stderr = output, output
	if c.stdin != nil {
		cmd.Stdin = bytes.NewReader(c.stdin)
	}
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start)
	if cmd.ProcessState == nil {
		return sample{}, err
	}
	if code := cmd.ProcessState.ExitCode(); code != c.want {
		text, _ := os.ReadFile(output.Name())
		return sample{}, fmt.Errorf("%v: %w %d: %s", c.argv, errStatus, code, tail(text))
	}
	processor := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return sample{took: took, processor: processor, peak: peakMemory(cmd.ProcessState)}, nil
}

// tail is the end of a command's output.
func tail(text []byte) []byte {
	const enough = 2000
	return text[max(0, len(text)-enough):]
}

// interleave takes turns: in each round every contender is measured once, each time another one first. The first round warms
// up and does not count.
func interleave(ctx context.Context, contenders []contender, rounds int, progress io.Writer) (map[string][]sample, error) {
	samples := map[string][]sample{}
	for round := range rounds + 1 {
		for i := range contenders {
			c := contenders[(i+round)%len(contenders)]
			s, err := c.sample(ctx, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 {
				samples[c.name] = append(samples[c.name], s)
			}
		}
		fmt.Fprint(progress, ".")
	}
	return samples, nil
}

// median is that of values, which it sorts.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
