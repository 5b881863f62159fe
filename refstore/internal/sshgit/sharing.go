package sshgit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/lockfile"
)

// sharing is a connection that all processes of the user share for one host. Its zero value is none.
type sharing struct {
	// socket is where the process that keeps the connection listens.
	socket string
	// persist is how long it keeps an idle one.
	persist time.Duration
	// why says, for people, why there is none.
	why string
}

func (s sharing) on() bool { return s.socket != "" }

// maxSocket bounds the socket's path in bytes: ssh makes a temporary name of it that is longer, and the system's bound is 104 or 108.
const maxSocket = 90

// findSharing decides whether to share a connection, and where: not where the user has set up one, nor with programs other than OpenSSH.
func (t *transport) findSharing(ctx context.Context) sharing {
	p := t.program
	switch {
	case t.o.Persist <= 0:
		return sharing{why: "turned off by worklease.sshPersist"}
	case runtime.GOOS == "windows":
		return sharing{why: "ssh on Windows can't share one"}
	case p.variant != openssh:
		return sharing{why: "the ssh program is not OpenSSH"}
	}
	id := sha256.New()
	for _, part := range []string{p.line, p.path, t.address.host, t.address.port, getenv(p.env, "SSH_AUTH_SOCK"), t.o.Persist.String()} {
		_, _ = io.WriteString(id, part+"\x00")
	}
	args, plain := words(p.line)
	if slices.ContainsFunc(args, sharingOption) {
		return sharing{why: usersOwn}
	}
	if mentioned := scanConfig(configFiles(args), id); mentioned || !plain {
		effective, err := p.effective(ctx, t.address.host, t.address.port)
		if err != nil {
			return sharing{why: "`ssh -G` fails: " + err.Error()}
		}
		if sharesItself(effective) {
			return sharing{why: usersOwn}
		}
		_, _ = id.Write(effective)
	}
	name := hex.EncodeToString(id.Sum(nil)[:8])
	for _, dir := range runtimeDirs(t.o.RuntimeDir) {
		socket := filepath.Join(dir, name+".s")
		if len(socket) <= maxSocket && privateFolder(dir) == nil {
			return sharing{socket: socket, persist: t.o.Persist}
		}
	}
	return sharing{why: fmt.Sprintf("no folder of this user alone with room for a socket's path of at most %d bytes", maxSocket)}
}

// usersOwn is why no connection of ours is shared where the user's own settings say whether one is.
const usersOwn = "the user's ssh configuration sets up its own"

// sharingOption tells the options of a command line by which a user sets up a connection of their own.
func sharingOption(arg string) bool {
	return strings.HasPrefix(arg, "-M") || strings.HasPrefix(arg, "-S") || strings.Contains(strings.ToLower(arg), "control")
}

// runtimeDirs are where the socket may be, best first.
func runtimeDirs(runtimeDir string) []string {
	last := filepath.Join("/tmp", fmt.Sprintf("git-worklease-%d", os.Getuid()))
	if runtimeDir == "" || !filepath.IsAbs(runtimeDir) {
		return []string{last}
	}
	return []string{filepath.Join(runtimeDir, "git-worklease"), last}
}

var errNotPrivate = errors.New("not a folder of ours alone")

// privateFolder makes dir with mode 0700, and insists on that: whoever can write there could put a socket of theirs.
func privateFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ownedByUs(info) {
		return errNotPrivate
	}
	return nil
}

// maxCalls is how many sessions at once a shared connection carries: a stock sshd allows ten, and closes them a little late.
const maxCalls = 8

// errGaveUp ends a wait for others that share the connection.
var errGaveUp = errors.New("waiting for the shared connection")

// slot waits until fewer than maxCalls processes use the connection, and takes a place until release is called or this process ends.
func (s sharing) slot(ctx context.Context) (release func(), err error) {
	base := strings.TrimSuffix(s.socket, ".s")
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		for i := range maxCalls {
			unlock, err := lockfile.TryLock(fmt.Sprintf("%s.%d", base, i))
			if err == nil {
				return func() { _ = unlock() }, nil
			}
			if !errors.Is(err, lockfile.ErrLocked) {
				return nil, err
			}
		}
		if err := wait(ctx, pause); err != nil {
			return nil, fmt.Errorf("%w: %w", errGaveUp, err)
		}
	}
}

// role says what a call is to the shared connection.
type role int

const (
	direct   role = iota // there is none
	follower             // it uses the connection that is there
	leader               // it opens the connection, and leaves it to others
)

// join finds the connection, or makes this call the one that opens it: others then wait until opened is called, so that many processes that start
// at once make one connection and not many.
func (s sharing) join(ctx context.Context) (r role, opened func(), err error) {
	if s.alive(ctx) {
		return follower, func() {}, nil
	}
	unlock, err := lockfile.Lock(ctx, strings.TrimSuffix(s.socket, ".s")+".open")
	if errors.Is(err, lockfile.ErrLocked) {
		return direct, nil, fmt.Errorf("%w: %w", errGaveUp, err)
	}
	if err != nil {
		return direct, nil, err
	}
	opened = func() { _ = unlock() }
	if s.alive(ctx) {
		opened()
		return follower, func() {}, nil
	}
	// What is left of a process that was killed would be taken for one that lives.
	_ = os.Remove(s.socket)
	return leader, opened, nil
}

// alive says whether a process listens at the socket.
func (s sharing) alive(ctx context.Context) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", s.socket)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// options make ssh play its role. The connection carries nothing but our calls, whatever the user forwards in other ones.
func (s sharing) options(r role) []string {
	switch r {
	case leader:
		return []string{
			"-a", "-x", "-o", "ClearAllForwardings=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2",
			"-o", "ControlMaster=auto", "-o", fmt.Sprintf("ControlPersist=%d", max(1, int(s.persist.Seconds()))), "-o", "ControlPath=" + escapePercent(s.socket),
		}
	case follower:
		return []string{"-a", "-x", "-o", "ClearAllForwardings=yes", "-o", "ControlMaster=no", "-o", "ControlPath=" + escapePercent(s.socket)}
	default:
		return nil
	}
}

func escapePercent(path string) string { return strings.ReplaceAll(path, "%", "%%") }

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
