package sshgit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/sshgit"
	"github.com/git-worklease/git-worklease/refstore/refstoretest"
)

const ref = "refs/worklease/claims/a"

// claimEnv makes the test binary claim the ref it names, as one of many processes. Its other variables are in childEnv.
const (
	claimEnv   = "SSHGIT_TEST_CLAIM"
	urlEnv     = "SSHGIT_TEST_URL"
	runtimeEnv = "SSHGIT_TEST_RUNTIME"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(claimEnv); name != "" {
		if err := claim(name); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func claim(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o := sshgit.Options{URL: os.Getenv(urlEnv), Persist: persist, RuntimeDir: os.Getenv(runtimeEnv), Now: time.Now}
	s := refstore.New(sshgit.New(o), refstore.Options{})
	defer s.Close() //nolint:errcheck // nothing depends on it
	if _, err := s.List(ctx, name); err != nil {
		return err
	}
	tx, err := s.Build(change(name, "", "one"))
	if err != nil {
		return err
	}
	return s.Swap(ctx, tx, nil)
}

// persist is short: what the tests leave behind is to go away.
const persist = 3 * time.Second

// site is a server, and how its clients reach it.
type site struct {
	*gitserver.SSHServer
	repo *gitserver.Repo
	o    sshgit.Options
}

func newSite(t *testing.T, so gitserver.SSHOptions, env ...string) *site {
	t.Helper()
	s := &site{SSHServer: gitserver.TestSSH(t, so)}
	var err error
	if s.repo, err = s.Repos.NewRepo(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	s.o = sshgit.Options{
		URL: s.URL("r"), Git: &gitexec.Git{Env: append(append(os.Environ(), s.Env()...), env...)},
		Persist: persist, RuntimeDir: runtimeDir(t), Now: time.Now,
	}
	return s
}

// runtimeDir is short enough for a socket, which t.TempDir may not be.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "wl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (s *site) open(t *testing.T) refstore.Store {
	t.Helper()
	store := refstore.New(sshgit.New(s.o), refstore.Options{})
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func (s *site) conform(t *testing.T) {
	n := 0
	refstoretest.Run(t, func(t *testing.T) refstoretest.Target {
		n++
		repo, err := s.Repos.NewRepo(t.Context(), fmt.Sprintf("r%d", n))
		if err != nil {
			t.Fatal(err)
		}
		at := *s
		at.o.URL = s.URL(repo.Name)
		return refstoretest.Target{
			Open: at.open,
			Damage: func(t *testing.T, ref string) {
				t.Helper()
				if err := repo.Damage(ref); err != nil {
					t.Fatal(err)
				}
			},
			Plant: func(t *testing.T, ref string) {
				commit, err := repo.Seed(t.Context())
				if err == nil {
					_, err = repo.Git(t.Context(), "update-ref", ref, commit)
				}
				if err != nil {
					t.Fatal(err)
				}
			},
			Racers: 4,
		}
	})
}

// TestConformance shares one connection, and the server speaks protocol version 2.
func TestConformance(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{Protocol: true})
	s.conform(t)
	if n := s.Logins(); n != 1 {
		t.Errorf("%d logins, want one connection for all", n)
	}
}

// TestConformanceStockServer speaks version 0, as a stock sshd makes it.
func TestConformanceStockServer(t *testing.T) {
	newSite(t, gitserver.SSHOptions{}).conform(t)
}

func change(ref string, old refstore.OID, text string) refstore.Change {
	return refstore.Change{Ref: ref, Old: old, Message: []byte(text + "\n"), When: time.Unix(1767323045, 0)}
}

func swap(t *testing.T, s refstore.Store, changes ...refstore.Change) (refstore.OID, error) {
	t.Helper()
	tx, err := s.Build(changes...)
	if err != nil {
		t.Fatal(err)
	}
	return tx.Updates[0].New, s.Swap(t.Context(), tx, nil)
}

func TestUnshared(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{Protocol: true})
	s.o.Persist = 0
	store := s.open(t)
	if _, err := swap(t, store, change(ref, "", "one")); err != nil {
		t.Fatal(err)
	}
	if n := s.Logins(); n != 1 {
		t.Errorf("a push took %d logins", n)
	}
	refs, err := store.List(t.Context(), ref)
	if err != nil || len(refs) != 1 || refs[0].Err != nil {
		t.Fatalf("list: %v, %v", refs, err)
	}
	if n := s.Logins(); n != 2 {
		t.Errorf("a push and a list with its commits took %d logins, want 2", n)
	}
	if entries, _ := os.ReadDir(s.o.RuntimeDir); len(entries) != 0 {
		t.Errorf("left %v", entries)
	}
}

// TestManyColdProcesses start at once against a server with stock limits, and make one connection.
func TestManyColdProcesses(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{Protocol: true})
	var group sync.WaitGroup
	for i := range 30 {
		group.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = slices.Concat(s.o.Git.Env, []string{
				fmt.Sprintf("%s=refs/worklease/claims/p%d", claimEnv, i), urlEnv + "=" + s.o.URL, runtimeEnv + "=" + s.o.RuntimeDir,
			})
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("process %d: %v: %s", i, err, out)
			}
		})
	}
	group.Wait()
	if n := s.Logins(); n != 1 {
		t.Errorf("%d logins, want 1", n)
	}
	if strings.Contains(s.Log(), "no more sessions") {
		t.Error("the server refused sessions on the shared connection")
	}
	refs, err := s.repo.Refs(t.Context(), "refs/worklease/")
	if err != nil || len(refs) != 30 {
		t.Errorf("%d refs, %v", len(refs), err)
	}
}

// TestMaxStartups: without a shared connection the server turns some away, which is told as worth trying again.
func TestMaxStartups(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{Config: []string{"MaxStartups 1:100:1"}})
	s.o.Persist = 0
	var group sync.WaitGroup
	var mu sync.Mutex
	busy := 0
	for range 8 {
		group.Go(func() {
			_, err := sshgit.New(s.o).Refs(t.Context(), []string{ref})
			var u *refstore.UnavailableError
			switch {
			case err == nil:
			case errors.As(err, &u) && u.Trouble == refstore.TroubleBusy && !u.Sent:
				mu.Lock()
				busy++
				mu.Unlock()
			default:
				t.Errorf("got %v, want busy", err)
			}
		})
	}
	group.Wait()
	if busy == 0 {
		t.Error("nobody was turned away, so this test shows nothing")
	}
}

// TestMaxSessions: a server that allows fewer sessions than we use does not fail a call, and is not heard of.
func TestMaxSessions(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{Config: []string{"MaxSessions 2"}})
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			if _, err := swap(t, s.open(t), change(fmt.Sprintf("%s%d", ref, i), "", "one")); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	group.Wait()
}

// TestDeadSocket: the process that kept the connection was killed, and its socket is still there.
func TestDeadSocket(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{Protocol: true})
	if _, err := s.open(t).List(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	sockets, err := filepath.Glob(filepath.Join(s.o.RuntimeDir, "git-worklease", "*.s"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("sockets: %v, %v", sockets, err)
	}
	out, err := exec.Command("ssh", "-F", s.ClientConfig, "-o", "ControlPath="+sockets[0], "-O", "check", "x").CombinedOutput()
	var pid int
	if _, scanErr := fmt.Sscanf(string(out), "Master running (pid=%d)", &pid); err != nil || scanErr != nil {
		t.Fatalf("%v, %v: %s", err, scanErr, out)
	}
	keeper, err := os.FindProcess(pid)
	if err == nil {
		err = keeper.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	// The first call may meet a keeper that is still dying; the second one opens another connection, and the third uses it.
	var logins [3]int
	for i := range logins {
		if _, err := s.open(t).List(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		logins[i] = s.Logins()
	}
	if logins[2] < 2 || logins[2] > 3 || logins[2] != logins[1] {
		t.Errorf("%v logins, want a new connection and its use", logins)
	}
}

// TestUsersOwnSharing is left alone, wherever it is set up.
func TestUsersOwnSharing(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{Protocol: true})
	own := filepath.Join(runtimeDir(t), "own")
	included := filepath.Join(t.TempDir(), "included")
	if err := os.WriteFile(included, []byte("ControlPath "+own+"\nControlMaster auto\nControlPersist 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("Include "+included+"\nInclude "+s.ClientConfig+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"ssh -F " + config, "ssh -F '" + s.ClientConfig + "' -o ControlPath=none"} {
		at := *s
		at.o.Git = &gitexec.Git{Env: append(os.Environ(), "GIT_SSH_COMMAND="+command)}
		if _, err := at.open(t).List(t.Context(), ref); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		if entries, _ := os.ReadDir(s.o.RuntimeDir); len(entries) != 0 {
			t.Errorf("%s: made %v", command, entries)
		}
	}
	if _, err := os.Lstat(own); err != nil {
		t.Errorf("the user's own connection: %v", err)
	}
}
