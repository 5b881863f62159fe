package external

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/child"
	"github.com/git-worklease/git-worklease/internal/gitexec"
)

const (
	// maxLine is the longest line of either side, in bytes with its end.
	maxLine = 1 << 20
	// maxAnswer is the most that one answer may have, in bytes.
	maxAnswer = 256 << 20
	// reapTime is how long a program that was killed, or whose output has ended, may take to be gone.
	reapTime = time.Second
)

// The conditions of a program that says nothing more, or too much.
var (
	errLong  = breach(fmt.Sprintf("it wrote a line of more than %d bytes", maxLine))
	errMuch  = breach(fmt.Sprintf("it wrote an answer of more than %d bytes", maxAnswer))
	errEnded = errors.New("it ended")
)

// breach is what a program did against the protocol.
type breach string

func (b breach) Error() string { return string(b) }

// process is a program that runs. It is used by one goroutine at a time.
type process struct {
	job     *child.Job
	in      *os.File
	outputs []*os.File
	// lines are those of its standard output; closed at the end.
	lines chan said
	// quit is closed when nobody wants them any more.
	quit chan struct{}
	tail *tail
	// last is the id of the latest request.
	last  int64
	hello *Hello
}

// said is a line, or why there is none.
type said struct {
	text []byte
	err  error
}

// launch starts a program.
func launch(path, dir string, env []string, stderr func(string)) (*process, error) {
	var files []*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			_ = f.Close() // pipes
		}
	}
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, r, w)
	}
	if env == nil {
		env = os.Environ()
	}
	theirs, ours := []*os.File{files[0], files[3], files[5]}, []*os.File{files[1], files[2], files[4]}
	job, err := child.Start(child.Command{
		Args: []string{path}, Env: gitexec.Unbound(env), Dir: dir, Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
	}, new(child.Signals))
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return nil, err
	}
	p := &process{job: job, in: ours[0], outputs: ours[1:], lines: make(chan said), quit: make(chan struct{}), tail: &tail{tell: stderr, done: make(chan struct{})}}
	go p.listen(ours[1])
	go p.tail.listen(ours[2])
	return p, nil
}

// listen hands on the lines of the program's output, as long as somebody wants them.
func (p *process) listen(out io.Reader) {
	defer close(p.lines)
	for r := bufio.NewReaderSize(out, 64<<10); ; {
		line, err := readLine(r)
		switch {
		case errors.Is(err, errLong), err == nil:
		case len(line) > 0:
			err = breach(fmt.Sprintf("it ended its output within a line: %s", excerpt(line)))
		default:
			return
		}
		select {
		case p.lines <- said{line, err}:
		case <-p.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line with its end. It returns errLong once there is too much of it.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return line, errLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// limits is how long an answer may take.
type limits struct {
	// silence is between two lines, longest is in all.
	silence, longest time.Duration
}

// exchange sends a line, and hands those of the answer to take until that says that one was the last. Its error says what the program did, or that the
// context has ended; it is take's own otherwise.
func (p *process) exchange(ctx context.Context, request []byte, l limits, take func(line []byte) (last bool, err error)) error {
	quiet, total := time.NewTimer(l.silence), time.NewTimer(l.longest)
	defer quiet.Stop()
	defer total.Stop()
	sent := p.send(request)
	for size := 0; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-sent:
			sent = nil // where it could not be sent, what the program says or does next tells why
		case <-quiet.C:
			return fmt.Errorf("it said nothing for %v", l.silence)
		case <-total.C:
			return fmt.Errorf("it was not done after %v", l.longest)
		case s, ok := <-p.lines:
			size += len(s.text)
			switch {
			case !ok:
				return errEnded
			case s.err != nil:
				return s.err
			case size > maxAnswer:
				return errMuch
			}
			if last, err := take(s.text); last || err != nil {
				return err
			}
			quiet.Reset(l.silence)
		}
	}
}

// send writes a line, as slowly as the program reads.
func (p *process) send(line []byte) <-chan struct{} {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = p.in.Write(line) // see exchange
	}()
	return sent
}

// idle says whether a program that was asked nothing is there and silent.
func (p *process) idle() error {
	select {
	case s, ok := <-p.lines:
		if !ok {
			return errEnded
		}
		if s.err != nil {
			return s.err
		}
		return breach("it wrote without having been asked: " + excerpt(s.text))
	case <-p.job.Done():
		return errEnded
	default:
		return nil
	}
}

// end ends the input of the program, and kills it where it is still there after grace. It says how the program ended, as far as that is known.
func (p *process) end(grace time.Duration) string {
	_ = p.in.Close() // a pipe
	forced := !p.gone(grace)
	if forced {
		p.job.Kill()
	}
	known := p.gone(reapTime)
	wait(p.tail.done, reapTime)
	close(p.quit)
	for _, f := range p.outputs {
		_ = f.Close() // likewise
	}
	switch {
	case forced || !known:
		return "it ended its output"
	case p.job.Wait().Signal != 0:
		return fmt.Sprintf("it was ended by signal %d", p.job.Wait().Signal)
	default:
		return fmt.Sprintf("it ended with status %d", p.job.Wait().Code)
	}
}

func (p *process) gone(within time.Duration) bool { return wait(p.job.Done(), within) }

// wait waits for the end of something, for a while.
func wait(done <-chan struct{}, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// tail is the last lines of a program's standard error.
type tail struct {
	tell  func(string)
	done  chan struct{}
	mu    sync.Mutex
	lines []string
}

const (
	tailLines = 3
	tailWidth = 512
)

func (t *tail) listen(errs io.Reader) {
	defer close(t.done)
	for r, within := bufio.NewReaderSize(errs, tailWidth), false; ; {
		line, more, err := r.ReadLine()
		if err != nil {
			return
		}
		if !within && len(line) > 0 {
			t.add(string(line))
		}
		within = more
	}
}

func (t *tail) add(line string) {
	t.mu.Lock()
	t.lines = append(t.lines, line)
	t.lines = t.lines[max(0, len(t.lines)-tailLines):]
	t.mu.Unlock()
	if t.tell != nil {
		t.tell(line)
	}
}

func (t *tail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines)
}
