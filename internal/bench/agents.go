package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

const (
	// agents come at once, for as many items.
	agents = 32
	// batch is how many items one of them takes by one claim.
	batch = 30
	// rushRounds is enough: the requests of a round are those of all agents.
	rushRounds = 5
)

// errItems is returned where agents did not get what they should: each of them items of its own.
var errItems = errors.New("not each agent got items of its own")

// measureNext is what it costs that agents take the next item, all at once and each in a clone of its own, and that one takes many by one claim.
func measureNext(ctx context.Context, b *bench, g group, r *report) error {
	if b.baselines {
		return nil
	}
	f, err := g.openWith(ctx, b, taskProject())
	if err != nil {
		return err
	}
	var all []*gitserver.Checkout
	for range agents {
		user, err := f.clone(ctx)
		if err != nil {
			return err
		}
		all = append(all, user)
	}
	var took, each, pushes []float64
	for n := range min(b.rounds, rushRounds) + 1 {
		crowd, err := f.rush(ctx, all, 2*n, 1)
		if err != nil {
			return err
		}
		alone, err := f.rush(ctx, all[:1], 2*n+1, batch)
		if err != nil {
			return err
		}
		if n > 0 { // in the first the clones get to know the server
			took = append(took, float64(crowd.took.Microseconds())/1000)
			each = append(each, float64(len(crowd.requests))/agents)
			pushes = append(pushes, float64(alone.pushes()))
		}
		fmt.Fprint(os.Stderr, ".")
	}
	r.add(g.name, nextAtOnce, milliseconds, took)
	r.add(g.name, nextAtOnce+asked, requests, each)
	r.add(g.name, nextMany+pushed, requests, pushes)
	return nil
}

// rush is what it cost that some agents took items at once.
type rush struct {
	took     time.Duration
	requests []gitserver.Request
}

func (r *rush) pushes() int {
	count := 0
	for _, request := range r.requests {
		if request.Method == http.MethodPost && strings.HasSuffix(request.Path, "/git-receive-pack") {
			count++
		}
	}
	return count
}

// rush lets all take count items each, at once, of those of its own that the nth rush has. They have seen the earlier claims, and release theirs in the end.
func (f *field) rush(ctx context.Context, all []*gitserver.Checkout, nth, count int) (*rush, error) {
	items := readyTasks(nth*agents+1, agents)
	for _, user := range all {
		if err := os.RemoveAll(filepath.Join(user.Dir, tasksFolder)); err != nil {
			return nil, err
		}
		if err := items.write(user); err != nil {
			return nil, err
		}
	}
	if _, err := f.together(ctx, all, "list"); err != nil {
		return nil, err
	}
	before, start := len(f.http.Requests()), time.Now()
	outputs, err := f.together(ctx, all, "queue", "next", "--claim", "-n", strconv.Itoa(count), "--json")
	if err != nil {
		return nil, err
	}
	r := &rush{time.Since(start), f.http.Requests()[before:]}
	if err := checkTaken(outputs, count); err != nil {
		return nil, err
	}
	_, err = f.together(ctx, all, "release")
	return r, err
}

// together runs git-worklease for all at once, and returns what each printed.
func (f *field) together(ctx context.Context, all []*gitserver.Checkout, args ...string) ([]string, error) {
	results := make([]gitserver.Result, len(all))
	var group sync.WaitGroup
	for i, user := range all {
		group.Go(func() { results[i] = user.Run(ctx, f.binary, args...) })
	}
	group.Wait()
	outputs := make([]string, len(all))
	for i, r := range results {
		if r.Code != 0 {
			return nil, fmt.Errorf("%v: %w %d: %s", args, errStatus, r.Code, r.Stderr)
		}
		outputs[i] = r.Stdout
	}
	return outputs, nil
}

// checkTaken says whether each output is of count items that are in no other.
func checkTaken(outputs []string, count int) error {
	taken := map[string]bool{}
	for _, text := range outputs {
		var output struct {
			Result struct{ Items []struct{ Key string } }
		}
		if err := json.Unmarshal([]byte(text), &output); err != nil {
			return err
		}
		for _, item := range output.Result.Items {
			taken[item.Key] = true
		}
		if len(output.Result.Items) != count {
			return fmt.Errorf("%w: %d, not %d", errItems, len(output.Result.Items), count)
		}
	}
	if len(taken) != len(outputs)*count {
		return fmt.Errorf("%w: %d items for %d agents", errItems, len(taken), len(outputs))
	}
	return nil
}
