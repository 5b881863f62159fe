package linear

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

const (
	// maxAnswer is in bytes, uncompressed.
	maxAnswer = 16 << 20
	// defaultPatience is for one request.
	defaultPatience = 30 * time.Second
)

// ask sends a document, and decodes what it is answered into data. What it returns beside a nil error are faults of parts of the data. what names the request in
// errors.
func (p *Provider) ask(ctx context.Context, what, document string, variables map[string]any, data any) ([]fault, error) {
	what = "linear: " + what
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if p.token == "" {
		return nil, fmt.Errorf("%s: LINEAR_API_KEY is not set: %w", what, providers.ErrUnauthorised)
	}
	if until := p.pausedUntil(); !until.IsZero() {
		return nil, &providers.RateLimitedError{Until: until, Request: what}
	}
	short, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	got, err := p.post(short, document, variables)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", what, ctx.Err())
	case errors.Is(err, errLong):
		return nil, &providers.BrokenError{Where: what, Err: err}
	case err != nil && short.Err() != nil:
		return nil, fmt.Errorf("%s: %w: no answer within %v", what, providers.ErrUnavailable, p.patience)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", what, providers.ErrUnavailable, p.bare(err))
	}
	return p.judge(what, got, data)
}

// response is what came of a request.
type response struct {
	status int
	header http.Header
	body   []byte
}

var errLong = fmt.Errorf("an answer of more than %d MiB", maxAnswer>>20)

// post makes the one request. It returns errLong for an answer that is longer than any that is read.
func (p *Provider) post(ctx context.Context, document string, variables map[string]any) (*response, error) {
	content, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.endpoint, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Authorization", p.token)
	request.Header.Set("User-Agent", "git-worklease")
	answer, err := p.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxAnswer {
		return nil, errLong
	}
	return &response{answer.StatusCode, answer.Header, body}, nil
}

// bare is what failed, without the address, which the reader knows, and whatever else a client tells.
func (p *Provider) bare(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return errors.New(p.clean(err.Error()))
}

// pausedUntil is when Linear may be asked again; zero for now.
func (p *Provider) pausedUntil() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.now().Before(p.until) {
		p.until = time.Time{}
	}
	return p.until
}

func (p *Provider) pause(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until.After(p.until) {
		p.until = until
	}
}
