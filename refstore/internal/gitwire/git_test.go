package gitwire

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

const (
	refA = "refs/worklease/claims/a"
	refB = "refs/worklease/claims/b"
)

var when = time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)

// repo is a bare repository of the system's git.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T, args ...string) *repo {
	t.Helper()
	r := &repo{t: t, dir: filepath.Join(t.TempDir(), "bare.git")}
	r.command(nil, append([]string{"init", "--quiet", "--bare"}, append(args, r.dir)...)...)
	return r
}

// git runs git in the repository and returns its output.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	return strings.TrimSpace(string(r.command(nil, append([]string{"--git-dir", r.dir}, args...)...)))
}

// serve gives input to a git service without a connection and returns the answer. A service that fails may answer.
func (r *repo) serve(version int, input []byte, args ...string) []byte {
	r.t.Helper()
	cmd := command(append(args, r.dir)...)
	if version > 0 {
		cmd.Env = append(cmd.Env, "GIT_PROTOCOL=version="+string(rune('0'+version)))
	}
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		r.t.Fatalf("git %v: %v", args, err)
	}
	return out
}

func (r *repo) command(stdin []byte, args ...string) []byte {
	r.t.Helper()
	cmd := command(args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, &stderr)
	}
	return out
}

func command(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	return cmd
}

// change makes the update of one ref; an empty message deletes.
func change(ref string, old refstore.OID, message string) refstore.Update {
	u := refstore.Update{Change: refstore.Change{Ref: ref, Old: old, When: when}}
	if message != "" {
		u.Message = []byte(message)
		u.New = refstore.SHA1.Hash("commit", refstore.EncodeCommit(refstore.SHA1, old, when, u.Message))
	}
	return u
}

func txOf(updates ...refstore.Update) *refstore.Tx {
	return &refstore.Tx{Format: refstore.SHA1, Updates: updates}
}

// push sends tx to receive-pack and returns its report.
func (r *repo) push(tx *refstore.Tx) *refstore.Report {
	r.t.Helper()
	report, err := ReadReport(NewReader(bytes.NewReader(r.pushRaw(tx))), tx)
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

func (r *repo) pushRaw(tx *refstore.Tx) []byte {
	r.t.Helper()
	var q bytes.Buffer
	if err := WritePush(&q, tx, nil); err != nil {
		r.t.Fatal(err)
	}
	return r.serve(0, q.Bytes(), "receive-pack", "--stateless-rpc")
}
