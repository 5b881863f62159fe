//go:build unix

package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// knife cuts what git's services say over ssh, before it is encrypted and after it was decrypted: it stands in for ssh, which it runs.
type knife struct {
	t   *testing.T
	dir string
}

// knifeScript runs ssh. The file "cut" names a direction, a number of bytes and a call, counted from 1, or 0 for each: that call's ssh is killed as
// soon as so many bytes have gone that way. With "log" it keeps what goes through each call.
const knifeScript = `#!/bin/sh
cd DIR || exit 255
case "$*" in
*git-receive-pack*|*git-upload-pack*) ;;
*) exec SSH "$@" ;;
esac
call=1
while ! mkdir call.$call 2>/dev/null; do call=$((call + 1)); done
if [ -e log ]; then
	tee up.$call | SSH "$@" | tee down.$call
	exit
fi
[ -e cut ] && read -r way bytes which <cut
if [ -z "$way" ] || { [ $which -ne 0 ] && [ $which -ne $call ]; }; then
	exec SSH "$@"
fi
pipe=pipe.$call
mkfifo $pipe
exec 3<&0 4>&1
if [ $way = up ]; then
	SSH "$@" <$pipe &
	ssh=$!
	exec 5>$pipe
	n=$(dd bs=1 count=$bytes status=none | tee /dev/fd/5 | wc -c)
else
	SSH "$@" <&3 >$pipe &
	ssh=$!
	exec 5<$pipe
	n=$(dd bs=1 count=$bytes status=none <&5 | tee /dev/fd/4 | wc -c)
fi
rm $pipe
[ $n -lt $bytes ] || kill -9 $ssh
exec 5<&- 3<&- 4>&-
wait $ssh 2>/dev/null
`

// newKnife makes one, and returns it with what makes a worker's git run it.
func newKnife(t *testing.T, s *site) (*knife, string) {
	t.Helper()
	k := &knife{t: t, dir: t.TempDir()}
	path := filepath.Join(k.dir, "knife")
	script := strings.NewReplacer("DIR", k.dir, "SSH", s.sshCommand()).Replace(knifeScript)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return k, "GIT_SSH_COMMAND=" + path
}

// sshCommand is the command line that logs in.
func (s *site) sshCommand() string {
	for _, v := range s.environ {
		if command, ok := strings.CutPrefix(v, "GIT_SSH_COMMAND="); ok {
			return command
		}
	}
	return ""
}

func (k *knife) write(name, text string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// clear takes away what earlier calls have left.
func (k *knife) clear() {
	k.t.Helper()
	for _, pattern := range []string{"cut", "log", "call.*", "up.*", "down.*"} {
		names, err := filepath.Glob(filepath.Join(k.dir, pattern))
		for _, name := range names {
			err = errors.Join(err, os.Remove(name))
		}
		if err != nil {
			k.t.Fatal(err)
		}
	}
}

// Inject makes a cut, in place of any that is there.
func (k *knife) Inject(c gitserver.Cut) {
	k.t.Helper()
	k.clear()
	k.write("cut", fmt.Sprintf("%s %d %d\n", map[gitserver.Direction]string{gitserver.Up: "up", gitserver.Down: "down"}[c.Direction], c.After, c.Conn))
}

// Heal takes the cut away.
func (k *knife) Heal() {
	k.t.Helper()
	k.clear()
}

// Measure is what goes through a call, counted from 1, or 0: the most that goes through one, each way, when all goes well.
func (k *knife) Measure(call int64, run func()) gitserver.Traffic {
	k.t.Helper()
	k.clear()
	k.write("log", "")
	run()
	size := func(way string) (most int64) {
		pattern := way + ".*"
		if call != 0 {
			pattern = fmt.Sprintf("%s.%d", way, call)
		}
		names, _ := filepath.Glob(filepath.Join(k.dir, pattern)) // the pattern is a good one
		for _, name := range names {
			if info, err := os.Stat(name); err == nil {
				most = max(most, info.Size())
			}
		}
		return most
	}
	defer k.clear()
	return gitserver.Traffic{Up: size("up"), Down: size("down")}
}

// TestProofCutAtEveryByteOverSSH: a call over the shared connection ends in the middle of the request or of the reply, at each byte of the exchange. A
// claim is one call; renewals and releases read by one, and push by another.
func TestProofCutAtEveryByteOverSSH(t *testing.T) {
	for _, f := range []severing{
		{name: "first call cut", Cut: gitserver.Cut{Conn: 1}, step: 1, scant: 500},
		{name: "second call cut", Cut: gitserver.Cut{Conn: 2}, step: 1, scant: 500},
		{name: "each call cut", step: 13, scant: 1 << 20, alone: true},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := sshSite(t)
			k, environ := newKnife(t, s)
			newCutting(t, s, k, s.worker(t, "alice", environ, "GIT_SSH_VARIANT=ssh")).sweep(t, &f)
		})
	}
}

// TestProofConnectionCutOverSSH: ssh's own connection, which is not shared, breaks, is reset or stalls. A sweep by each byte would be one of ssh's
// packets: nothing of a packet is known before its end, and where that is differs from time to time.
func TestProofConnectionCutOverSSH(t *testing.T) {
	for _, f := range []severing{
		{name: "each connection cut", step: 131, scant: 1 << 20, alone: true},
		{name: "each connection reset", Cut: gitserver.Cut{How: gitserver.Resets}, step: 521, scant: 1 << 20, alone: true},
		{name: "each connection stalls", Cut: gitserver.Cut{How: gitserver.Stalls}, step: 997, scant: 1 << 20, alone: true, flags: []string{"--timeout", "2s"}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := sshSite(t)
			at, err := url.Parse(s.url)
			if err != nil {
				t.Fatal(err)
			}
			known := fmt.Sprintf("%s -o 'HostKeyAlias=[%s]:%s'", s.sshCommand(), at.Hostname(), at.Port())
			proxy, alice := proxied(t, s, "GIT_SSH_COMMAND="+known, "WORKLEASE_SSH_PERSIST=off")
			newCutting(t, s, proxy, alice).sweep(t, &f)
		})
		if !thorough() {
			break
		}
	}
}
