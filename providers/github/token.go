package github

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// tokenTime bounds how long gh, or a credential helper of git's, may take.
const tokenTime = 10 * time.Second

// Tokens finds the user's tokens where users of GitHub have them.
type Tokens struct {
	Getenv func(string) string
	// Git runs git where the user's credential helpers are set; nil for no such.
	Git *gitexec.Git
	// GH is the gh program; "" for the one on PATH.
	GH string
}

// For finds the token for a repository's host: in GITHUB_TOKEN or GH_TOKEN (or the two that gh has for Enterprise servers), else of gh, else of git's
// credential helper. None of them asks anybody. It finds "" where there is none.
//
// A token in the environment is for github.com and its own subdomains, or for the one server that GH_HOST or GITHUB_SERVER_URL names: which host it is sent to must not
// be up to a policy that came with a repository.
func (t Tokens) For(r Repository) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, tokenTime)
		defer cancel()
		for _, find := range []func(context.Context, Repository) string{t.environment, t.gh, t.git} {
			if token := strings.TrimSpace(find(ctx, r)); token != "" {
				return token, nil
			}
		}
		return "", nil
	}
}

// Hosts are the Enterprise servers that the environment names, for [Detect].
func (t Tokens) Hosts() []string {
	var hosts []string
	if host := t.Getenv("GH_HOST"); host != "" {
		hosts = append(hosts, host)
	}
	if u, err := url.Parse(t.Getenv("GITHUB_SERVER_URL")); err == nil && u.Host != "" {
		hosts = append(hosts, u.Hostname())
	}
	return hosts
}

func (t Tokens) environment(_ context.Context, r Repository) string {
	var names []string
	server := public
	if u, err := url.Parse(t.Getenv("GITHUB_SERVER_URL")); err == nil && u.Host != "" {
		server = cleanHost(u.Hostname())
	}
	switch {
	case r.Host == server:
		names = []string{"GITHUB_TOKEN", "GH_TOKEN"}
	case r.Host == public:
		names = []string{"GH_TOKEN"}
	case r.Host != cleanHost(t.Getenv("GH_HOST")):
		return ""
	case strings.HasSuffix(r.Host, ".ghe.com"):
		names = []string{"GH_TOKEN", "GITHUB_TOKEN"}
	default:
		names = []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
	}
	for _, name := range names {
		if token := t.Getenv(name); token != "" {
			return token
		}
	}
	return ""
}

func (t Tokens) gh(ctx context.Context, r Repository) string {
	program := t.GH
	if program == "" {
		found, err := exec.LookPath("gh")
		if err != nil {
			return ""
		}
		program = found
	}
	cmd := exec.CommandContext(ctx, program, "auth", "token", "--hostname="+r.Host) //nolint:gosec // the program is gh
	cmd.Env = append(t.Git.Environ(), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

func (t Tokens) git(ctx context.Context, r Repository) string {
	if t.Git == nil {
		return ""
	}
	quiet := *t.Git
	quiet.Interactive, quiet.Asking = false, nil
	host := r.Host
	if r.Port != "" {
		host += ":" + r.Port
	}
	var ask bytes.Buffer
	fmt.Fprintf(&ask, "protocol=https\nhost=%s\npath=%s/%s\n\n", host, r.Owner, r.Name)
	out, err := quiet.Pipe(ctx, ask.Bytes(), "credential", "fill")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(out)) {
		if token, found := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "password="); found {
			return token
		}
	}
	return ""
}
