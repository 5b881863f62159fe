package sshgit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
)

// failed ends a session in which an exchange broke, and tells why: the deadline, the protocol, ssh, or the program at the server.
func (t *transport) failed(ctx context.Context, s *session, err error) error {
	trouble := gitwire.Trouble(ctx, err)
	if trouble != refstore.TroubleNetwork {
		s.kill() // what it goes on to say is of no use
	}
	exit := s.failure(ctx)
	if trouble == refstore.TroubleDeadline {
		return t.unavailable(trouble, s.sent, errors.Join(err, context.Cause(ctx)))
	}
	if trouble != refstore.TroubleNetwork {
		return t.unavailable(trouble, s.sent, err)
	}
	said := withoutNoise(exit.Stderr)
	if s.advert == nil {
		trouble = whyClosed(exit.Code, said)
		// The shared connection may have died with the network that it was opened on. The next call opens another.
		if s.role == follower && trouble == refstore.TroubleNetwork {
			trouble = refstore.TroubleBusy
		}
	}
	return t.unavailable(trouble, s.sent, explain(exit, said, err))
}

// exitSSH is the status by which OpenSSH tells of its own failures rather than of the remote program's.
const exitSSH = 255

// whyClosed sorts the end of a connection that came before the server's first word. Ssh's words are not translated.
func whyClosed(code int, said []string) refstore.Trouble {
	says := func(some ...string) bool {
		for _, line := range said {
			for _, s := range some {
				if strings.Contains(line, s) {
					return true
				}
			}
		}
		return false
	}
	switch {
	case code == exitSSH && says("Permission denied", "Host key verification failed", "Too many authentication failures", "HOST IDENTIFICATION HAS CHANGED", "No supported authentication"):
		return refstore.TroubleAuth
	case code == exitSSH && says("kex_exchange_identification", "ssh_exchange_identification", "Session open refused", "administratively prohibited", "Connection reset", "Connection closed"):
		return refstore.TroubleBusy
	case code == exitSSH || code < 0:
		return refstore.TroubleNetwork
	case code == 126 || code == 127:
		if says("git-upload-pack", "git-receive-pack") {
			return refstore.TroubleNotFound // no git at the server
		}
		return refstore.TroubleLocal // no such ssh
	case says("denied", "ermission"):
		return refstore.TroubleDenied
	default:
		return refstore.TroubleNotFound
	}
}

// noise starts the lines that ssh writes about a shared connection that it then does without.
var noise = [...]string{"mux_client_", "muxclient", "ControlSocket ", "Control socket ", "Shared connection to ", "Warning: Permanently added", "channel "}

// withoutNoise are the lines that say something.
func withoutNoise(stderr string) []string {
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		noisy := line == ""
		for _, n := range noise {
			noisy = noisy || strings.HasPrefix(line, n)
		}
		if !noisy {
			lines = append(lines, line)
		}
	}
	return lines
}

// explain is the cause with the most telling line: ssh's last, or the remote program's first.
func explain(exit *gitexec.Error, said []string, err error) error {
	switch {
	case len(said) == 0:
		return err
	case exit.Code == exitSSH:
		return fmt.Errorf("%s (%w)", said[len(said)-1], err)
	default:
		return fmt.Errorf("%s (%w)", said[0], err)
	}
}
