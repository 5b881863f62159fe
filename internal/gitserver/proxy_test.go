package gitserver_test

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// proxied puts a proxy before the server and makes the clone use it.
func proxied(t *testing.T, s *gitserver.HTTPServer, c *gitserver.Checkout, opts gitserver.ProxyOptions) *gitserver.Proxy {
	t.Helper()
	p := gitserver.TestProxy(t, s.Addr(), opts)
	url, err := p.Through(s.URL("app"))
	if err != nil {
		t.Fatal(err)
	}
	git(t, c, "remote", "set-url", "origin", url)
	return p
}

func TestProxyCountsWhatTheServerCounts(t *testing.T) {
	s, repo, c := httpClone(t, gitserver.HTTPOptions{})
	p := proxied(t, s, c, gitserver.ProxyOptions{Delay: time.Millisecond})
	before := s.Traffic()
	oid := commit(t, c, "one")
	git(t, c, "push", "origin", "HEAD:refs/heads/one")
	if got := tip(t, repo, "refs/heads/one"); got != oid {
		t.Errorf("the server has %q, want %s", got, oid)
	}
	if through, at := p.Traffic(), s.Traffic().Sub(before); through != at || through.Bytes() == 0 {
		t.Errorf("the proxy counts %+v, the server %+v", through, at)
	}
}

func TestProxyCuts(t *testing.T) {
	tests := map[string]gitserver.Cut{
		"advertisement": {Direction: gitserver.Down, After: 100},
		"request":       {Direction: gitserver.Up, After: 500},
		"nothing":       {Direction: gitserver.Up, After: 0},
	}
	for name, cut := range tests {
		t.Run(name, func(t *testing.T) {
			s, repo, c := httpClone(t, gitserver.HTTPOptions{})
			p := proxied(t, s, c, gitserver.ProxyOptions{})
			commit(t, c, "one")
			p.Inject(cut)
			pushFails(t, c, "refs/heads/one")
			if got := tip(t, repo, "refs/heads/one"); got != "" {
				t.Errorf("%s landed; %+v went through", got, p.Traffic())
			}
			p.Heal()
			git(t, c, "push", "origin", "HEAD:refs/heads/two")
		})
	}
}

func TestProxyCutsTheReport(t *testing.T) {
	s, repo, c := httpClone(t, gitserver.HTTPOptions{})
	p := proxied(t, s, c, gitserver.ProxyOptions{})
	oid := commit(t, c, "one")
	git(t, c, "push", "origin", "HEAD:refs/heads/one")
	// What the next push is sent is longer by one line of the advertisement: this cut is within its report.
	p.Inject(gitserver.Cut{Direction: gitserver.Down, After: p.Traffic().Down})
	pushFails(t, c, "refs/heads/two")
	if got := tip(t, repo, "refs/heads/two"); got != oid {
		t.Errorf("the server has %q, want %s", got, oid)
	}
}

// TestProxyDelays asserts that a delay is there, which no load on the machine can undo.
func TestProxyDelays(t *testing.T) {
	const delay = 50 * time.Millisecond
	s, _, c := httpClone(t, gitserver.HTTPOptions{})
	proxied(t, s, c, gitserver.ProxyOptions{Delay: delay})
	start := time.Now()
	git(t, c, "ls-remote", "origin") // two requests
	if took := time.Since(start); took < 4*delay {
		t.Errorf("two round trips took %v", took)
	}
}

func TestProxyCutsTheNthConnection(t *testing.T) {
	s, _, c := httpClone(t, gitserver.HTTPOptions{})
	p := proxied(t, s, c, gitserver.ProxyOptions{})
	p.Inject(gitserver.Cut{Conn: 2, Direction: gitserver.Down, After: 10})
	git(t, c, "fetch", "origin")
	if out, err := c.Git(t.Context(), "fetch", "origin"); err == nil {
		t.Errorf("the second connection was not cut: %s", out)
	}
	git(t, c, "fetch", "origin")
}

// TestProxyResetsAndStalls: a reset loses the reply and says so, a stall says nothing until the client hangs up.
func TestProxyResetsAndStalls(t *testing.T) {
	for how, want := range map[gitserver.How]error{gitserver.Resets: syscall.ECONNRESET, gitserver.Stalls: os.ErrDeadlineExceeded} {
		server, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			conn, err := server.Accept()
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
			}
			if err == nil {
				_, err = conn.Write([]byte("hello"))
			}
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
			}
			ended <- err
		}()
		p := gitserver.TestProxy(t, server.Addr().String(), gitserver.ProxyOptions{})
		p.Inject(gitserver.Cut{Direction: gitserver.Down, After: 2, How: how})
		client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write([]byte("?")); err != nil {
			t.Fatal(err)
		}
		if how == gitserver.Stalls {
			if _, err := io.ReadFull(client, make([]byte, 2)); err != nil {
				t.Error(err)
			}
			if err := client.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
				t.Error(err)
			}
		}
		if _, err := io.ReadAll(client); !errors.Is(err, want) {
			t.Errorf("%d: the client got %v, want %v", how, err, want)
		}
		_ = client.Close()
		if err := <-ended; err == nil {
			t.Errorf("%d: the server got something", how)
		}
		_ = server.Close()
	}
}
