package github

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/git-worklease/git-worklease/providers"
)

// Options are what a tracker at GitHub is made of.
type Options struct {
	// Repository is whose items are listed, and those that a bare number means.
	Repository Repository
	// API replaces [Repository.API]. It gets the user's token, so it must not come from a file that others write. It is https, or a loopback address.
	API string
	// Token finds the user's token, when it is first needed; "" where there is none. Nil means no token. [Tokens.For] is how users expect it to be found.
	Token func(ctx context.Context) (string, error)
	// HTTP is how to reach the API; nil for the defaults. Its redirects and cookies are not used.
	HTTP *http.Client
	// Cache is the folder of kept answers, which is made where it is missing; "" for none.
	Cache string
	// Now is the clock; nil for the system's. It is compared with what the API says of its limits.
	Now func() time.Time
	// Started and Review are the labels of work in progress and of work that waits for review; "" for none. A label that the repository lacks is made.
	Started, Review string
	// Close lets finished work close its issue.
	Close bool
	// Priorities are what labels say, by [fold]ed name; nil for [DefaultPriorities].
	Priorities map[string]providers.Priority
}

// The labels of a policy that names none.
const (
	DefaultStarted = "in progress"
	DefaultReview  = "in review"
)

// Provider is the issues and pull requests of one repository. It is a [providers.Planner] and a [providers.Finisher].
type Provider struct {
	repo            Repository
	client          *gh.Client
	transport       *transport
	cache           *cache
	now             func() time.Time
	started, review string
	closes          bool
	priorities      map[string]providers.Priority
	// pages is how many of a list are read.
	pages int

	mu sync.Mutex
	// login is the token's user, once that was asked.
	login string
}

var (
	_ providers.Planner  = (*Provider)(nil)
	_ providers.Finisher = (*Provider)(nil)
)

// Open makes a tracker. It asks nobody and reads no file. It returns a [*providers.BrokenError] for settings that make no sense.
func Open(o Options) (*Provider, error) {
	if !isOwner(o.Repository.Owner) || !isName(o.Repository.Name) || cleanHost(o.Repository.Host) != o.Repository.Host || o.Repository.Host == "" {
		return nil, broken("providers.github.repo", fmt.Errorf("%q is no repository", o.Repository.String()))
	}
	if o.API == "" {
		o.API = o.Repository.API()
	}
	base, err := url.Parse(o.API)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, broken("the API's address", fmt.Errorf("%q is no address", shown(o.API)))
	}
	if base.Scheme != "https" && (base.Scheme != "http" || !isLoopback(base.Hostname())) {
		return nil, broken("the API's address", fmt.Errorf("%q is not https, so it gets no token", shown(o.API)))
	}
	base = base.JoinPath("/")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Priorities == nil {
		o.Priorities = DefaultPriorities()
	}
	p := &Provider{
		repo: o.Repository, cache: &cache{dir: o.Cache, now: o.Now}, now: o.Now,
		started: o.Started, review: o.Review, closes: o.Close, priorities: o.Priorities, pages: maxPages,
	}
	p.transport = newTransport(o, base, p.cache)
	p.client = gh.NewClient(p.transport.client(o.HTTP))
	p.client.BaseURL, p.client.UserAgent = base, "git-worklease"
	return p, nil
}

// Name implements [providers.Provider].
func (p *Provider) Name() string { return scheme }

// Source implements [providers.Provider].
func (p *Provider) Source() string { return p.repo.Host + "/" + p.repo.Owner + "/" + p.repo.Name }

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func broken(where string, err error) error { return &providers.BrokenError{Where: where, Err: err} }
