package linear

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

const (
	name = "linear"
	// Endpoint is where Linear answers.
	Endpoint = "https://api.linear.app/graphql"
	// maxTeams is how many teams one listing asks for.
	maxTeams = 50
	// settings is how messages name the policy's table.
	settings = "[providers.linear]"
)

// Options are what a provider needs to know.
type Options struct {
	// Teams are the keys of the teams whose issues are listed, in any case: 1 to 50.
	Teams []string
	// Workspace is the first part of the addresses that are taken; empty for that of any.
	Workspace string
	// Close says that finished work moves an issue to its team's first completed state.
	Close bool
	// Token is the API key; without one nothing can be asked. One that begins with "lin_oauth_" or "Bearer " is sent as OAuth wants it.
	Token string
	// Endpoint is the address of the API; empty for [Endpoint]. It has to be https, or http to this very machine. It is never a policy's.
	Endpoint string
	// HTTP makes the requests; nil for a client of Go's defaults. Its rule for redirects is not used: none is followed.
	HTTP *http.Client
	// Now is the wall clock; nil for the system's.
	Now func() time.Time
}

// Provider is some teams of a workspace. It is a [providers.Planner] and a [providers.Finisher].
type Provider struct {
	teams     []string // upper case, sorted, each once
	workspace string
	close     bool
	token     string
	endpoint  string
	http      *http.Client
	now       func() time.Time
	patience  time.Duration

	mu sync.Mutex
	// until is when the API may be asked again.
	until time.Time
}

var (
	_ providers.Planner  = (*Provider)(nil)
	_ providers.Finisher = (*Provider)(nil)
)

// Open checks the options. It asks nobody, so neither the token nor the teams are known to be right. It returns [providers.ErrBroken], wrapped, for options
// that make no sense, and [providers.ErrUnauthorised] for a token that is none.
func Open(opts Options) (*Provider, error) {
	p := &Provider{workspace: opts.Workspace, close: opts.Close, endpoint: opts.Endpoint, now: opts.Now, http: &http.Client{}, patience: defaultPatience}
	if opts.HTTP != nil {
		*p.http = *opts.HTTP
	}
	p.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if p.now == nil {
		p.now = time.Now //nolint:forbidigo // the system's clock, where none was passed in
	}
	if p.endpoint == "" {
		p.endpoint = Endpoint
	}
	if err := checkEndpoint(p.endpoint); err != nil {
		return nil, &providers.BrokenError{Where: "the endpoint of Linear", Err: err}
	}
	var err error
	if p.teams, err = checkTeams(opts.Teams); err != nil {
		return nil, &providers.BrokenError{Where: settings + " teams", Err: err}
	}
	if p.workspace != "" && !isSlug(p.workspace) {
		return nil, &providers.BrokenError{Where: settings + " workspace", Err: fmt.Errorf("%q is not the name of a workspace", p.workspace)}
	}
	p.token, err = header(opts.Token)
	return p, err
}

// Name is "linear".
func (p *Provider) Name() string { return name }

// Source names the workspace, if it is known, and the teams.
func (p *Provider) Source() string {
	return "linear.app" + strings.TrimSuffix("/"+p.workspace, "/") + ": " + strings.Join(p.teams, ", ")
}

func checkTeams(teams []string) ([]string, error) {
	keys := make([]string, 0, len(teams))
	for _, team := range teams {
		if !isTeam(team) {
			return nil, fmt.Errorf("%q is not the key of a team, such as ENG", team)
		}
		keys = append(keys, strings.ToUpper(team))
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	switch {
	case len(keys) == 0:
		return nil, errors.New("no team is named")
	case len(keys) > maxTeams:
		return nil, fmt.Errorf("%d teams are named, more than %d", len(keys), maxTeams)
	}
	return keys, nil
}

// checkEndpoint refuses every address to which a token would travel in the open.
func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("it is not an address")
	case u.User != nil:
		return errors.New("it has a user")
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	default:
		return fmt.Errorf("%s://%s is not https", u.Scheme, u.Host)
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// header is what the API wants to read of a token: an API key as it is, an OAuth token after a word.
func header(token string) (string, error) {
	token = strings.TrimSpace(token)
	bare, bearer := strings.CutPrefix(token, "Bearer ")
	for _, c := range []byte(bare) {
		if c <= ' ' || c > '~' {
			return "", fmt.Errorf("LINEAR_API_KEY has a character that no token has: %w", providers.ErrUnauthorised)
		}
	}
	if bearer || strings.HasPrefix(bare, "lin_oauth_") {
		return "Bearer " + bare, nil
	}
	return bare, nil
}
