package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/providers"
)

// What a program is asked.
const (
	opParse   = "parse"
	opList    = "list"
	opRead    = "read"
	opPlan    = "plan"
	opStart   = "start"
	opUnstart = "unstart"
	opFinish  = "finish"
)

const (
	// maxItems is the most items of a listing, maxLines the most lines, maxTroubles the most troubles that are told apart.
	maxItems    = 100_000
	maxLines    = 2 * maxItems
	maxTroubles = 1000
	// maxText is the longest text that may be a key, in bytes.
	maxText = 4096
	// maxMark is the longest mark of an announcement, in bytes of JSON.
	maxMark = 4096
)

var errNoAnswer = breach("it answered without what was asked for")

// Parse reads a key as a person types it. It asks the program, which must ask nobody else.
func (p *Provider) Parse(text string) (providers.Key, error) {
	if !typed(text) {
		return "", fmt.Errorf("%q: %w", excerptText(text), providers.ErrNotKey)
	}
	var key providers.Key
	err := p.use(context.Background(), func(proc *process) error {
		var err error
		if key, err = p.parse(proc, text); err != nil || string(key) == text {
			return err
		}
		_, err = p.parse(proc, string(key)) // which fails where it becomes another
		if errors.As(err, new(*refusal)) {
			r := &request{Op: opParse, Text: string(key)}
			return &failure{r.place(), breach(fmt.Sprintf("it made that key of %q, and now refuses it: %v", text, plain(err)))}
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return key, nil
}

// typed says whether text can be what a person means by a key, so that no program has to deal with what no key has.
func typed(text string) bool {
	return text != "" && len(text) <= maxText && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) && text == strings.TrimSpace(text)
}

func (p *Provider) parse(proc *process, text string) (key providers.Key, err error) {
	r := &request{Op: opParse, Text: text}
	err = p.ask(context.Background(), proc, r, func(a *answer) (bool, error) {
		if a.Key == nil {
			return true, errNoAnswer
		}
		if key, err = proc.hello.key(*a.Key); err != nil {
			return true, breach("it answered with what is no key: " + err.Error())
		}
		if rest, ours := strings.CutPrefix(text, p.opts.Name+":"); ours && proc.hello.Keys.fault(rest) == "" && string(key) != text {
			return true, breach(fmt.Sprintf("it made %q of a key", key))
		}
		return true, nil
	})
	var nearly *refusal
	if errors.As(err, &nearly) && errors.Is(err, providers.ErrNotKey) {
		err = &refusal{p.notKey(proc, text, nearly)}
	}
	return key, err
}

// notKey tells what is nearly a key, of which the program has said what is wrong, from what is none.
func (p *Provider) notKey(proc *process, text string, r *refusal) error {
	var f *faultError
	if !errors.As(r, &f) || f.Message == "" {
		return fmt.Errorf("%q: %w", text, providers.ErrNotKey)
	}
	return &providers.KeyError{Provider: p.opts.Name, Text: text, Fault: f.message(), Want: orElse(f.Want, proc.hello.Keys.Example)}
}

// mine has f run with a program whose key it is. It returns [providers.ErrNotKey], wrapped, for any other.
func (p *Provider) mine(ctx context.Context, key providers.Key, f func(*process) error) error {
	if key.Scheme() != p.opts.Name {
		return fmt.Errorf("%q is no key of %s: %w", excerptText(string(key)), p.opts.Name, providers.ErrNotKey)
	}
	return p.use(ctx, func(proc *process) error {
		if _, err := proc.hello.key(string(key)); err != nil {
			return &refusal{fmt.Errorf("%w: %w", err, providers.ErrNotKey)}
		}
		return f(proc)
	})
}

// Read reads one item anew.
func (p *Provider) Read(ctx context.Context, key providers.Key) (*providers.Item, error) {
	var read *providers.Item
	err := p.mine(ctx, key, func(proc *process) error {
		return p.ask(ctx, proc, &request{Op: opRead, Key: key}, func(a *answer) (bool, error) {
			if a.Item == nil {
				return true, errNoAnswer
			}
			var err error
			if read, err = proc.hello.item(a.Item); err != nil {
				return true, &refusal{&providers.BrokenError{Where: p.program + ": read " + string(key), Err: err}}
			}
			if read.Key != key {
				return true, breach(fmt.Sprintf("it answered with item %s", read.Key))
			}
			return true, nil
		})
	})
	if err != nil {
		return nil, err
	}
	return read, nil
}

// List reads the open items. Those of one priority stay in the program's order.
func (p *Provider) List(ctx context.Context, report func(read, of int)) (*providers.Listing, error) {
	l := &listing{Listing: providers.Listing{Read: p.opts.Now()}, p: p, report: report, seen: map[providers.Key]bool{}}
	err := p.use(ctx, func(proc *process) error {
		return p.ask(ctx, proc, &request{Op: opList}, func(a *answer) (bool, error) { return l.take(proc.hello, a) })
	})
	if err != nil {
		return nil, err
	}
	if l.cut > 0 {
		l.trouble(fmt.Errorf("%s: list: %d items, of which only %d are read", p.program, l.cut+len(l.Items), len(l.Items)))
	}
	if l.more > 0 {
		l.Troubles = append(l.Troubles, fmt.Errorf("%s: list: %d more troubles", p.program, l.more))
	}
	slices.SortStableFunc(l.Items, byPriority)
	return &l.Listing, nil
}

// listing is one that is being read.
type listing struct {
	providers.Listing
	p      *Provider
	report func(read, of int)
	seen   map[providers.Key]bool
	// lines were read; of is how many items there are, if that is known; cut are those beyond the most, more the troubles beyond the most.
	lines, of, cut, more int
}

func (l *listing) take(h *Hello, a *answer) (last bool, err error) {
	if l.lines++; l.lines > maxLines {
		return true, breach(fmt.Sprintf("it wrote an answer of more than %d lines", maxLines))
	}
	if a.Progress != nil {
		l.of = max(0, a.Progress.Of)
	}
	switch {
	case a.Error != nil:
		err := a.Error.err(l.p.program + ": list")
		if len(l.Items) == 0 {
			return true, &refusal{err}
		}
		l.trouble(err)
		return true, nil
	case a.End:
		for _, f := range a.Troubles {
			if f != nil {
				l.trouble(f.trouble(l.p.program + ": list"))
			}
		}
		l.tell()
		return true, nil
	case a.Item != nil:
		l.add(h, a)
	case a.Progress == nil:
		return true, errNoAnswer
	}
	return false, nil
}

func (l *listing) add(h *Hello, a *answer) {
	i, err := h.item(a.Item)
	switch {
	case err != nil:
		l.trouble(&providers.BrokenError{Where: l.p.program + ": list", Err: err})
		return
	case l.seen[i.Key]:
		l.trouble(&providers.BrokenError{Where: l.p.program + ": list", Err: fmt.Errorf("item %s comes twice", i.Key)})
		return
	case len(l.Items) >= maxItems:
		l.cut++
		return
	}
	l.seen[i.Key] = true
	l.Items = append(l.Items, *i)
	l.tell()
}

func (l *listing) tell() {
	if l.of > 0 {
		l.of = max(l.of, len(l.Items))
	}
	if l.report != nil {
		l.report(len(l.Items), l.of)
	}
}

func (l *listing) trouble(err error) {
	if len(l.Troubles) >= maxTroubles {
		l.more++
		return
	}
	l.Troubles = append(l.Troubles, err)
}

// Plan says what Start would change.
func (p *Provider) Plan(ctx context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	return p.mark(ctx, &request{Op: opPlan, Key: key, Worker: (*worker)(&by)}, CanPlan)
}

// Start marks an item as being worked on.
func (p *Provider) Start(ctx context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	return p.mark(ctx, &request{Op: opStart, Key: key, Worker: (*worker)(&by)}, CanStart)
}

// mark asks a program that has a capability for a mark.
func (p *Provider) mark(ctx context.Context, r *request, capability string) (providers.Mark, error) {
	var mark providers.Mark
	err := p.tell(ctx, r, capability, func(a *answer) error {
		if a.Mark == nil {
			return errNoAnswer
		}
		if text, err := encode(a.Mark); err != nil || len(text) > maxMark {
			return breach(fmt.Sprintf("it answered with a mark of more than %d bytes", maxMark))
		}
		mark = *a.Mark
		if a.Error != nil {
			return &refusal{a.Error.err(p.program + ": " + r.place())}
		}
		return nil
	})
	return mark, err
}

// Unstart takes back what Start has changed.
func (p *Provider) Unstart(ctx context.Context, key providers.Key, mark providers.Mark) error {
	return p.tell(ctx, &request{Op: opUnstart, Key: key, Mark: &mark}, CanStart, done)
}

// Finish notes what has come of the work.
func (p *Provider) Finish(ctx context.Context, key providers.Key, by providers.Worker, result providers.Result) error {
	return p.tell(ctx, &request{Op: opFinish, Key: key, Worker: (*worker)(&by), Result: result}, CanFinish, done)
}

func done(a *answer) error {
	if !a.OK {
		return errNoAnswer
	}
	return nil
}

// tell asks a program that has a capability for what is answered in one line.
func (p *Provider) tell(ctx context.Context, r *request, capability string, take func(*answer) error) error {
	return p.mine(ctx, r.Key, func(proc *process) error {
		if !proc.hello.Can(capability) {
			return &refusal{fmt.Errorf("%s: %s: %w", p.program, r.place(), providers.ErrUnsupported)}
		}
		return p.ask(ctx, proc, r, func(a *answer) (bool, error) { return true, take(a) })
	})
}
