package localgit_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/localgit"
	"github.com/git-worklease/git-worklease/refstore/refstoretest"
)

const ref = "refs/worklease/claims/a"

func newDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "worklease", "local.git")
}

func open(dir string) refstore.Store {
	return refstore.New(localgit.New(localgit.Options{Dir: dir, Now: time.Now}), refstore.Options{})
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"--git-dir=" + dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// plant makes ref hold a commit with a file in it.
func plant(t *testing.T, dir, ref string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := git(t, dir, "hash-object", "-w", file)
	cmd := exec.Command("git", "--git-dir="+dir, "mktree")
	cmd.Stdin = strings.NewReader("100644 blob " + blob + "\tx\n")
	tree, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	commit := git(t, dir, "-c", "user.name=P", "-c", "user.email=p@example.com", "commit-tree", "-m", "x", strings.TrimSpace(string(tree)))
	git(t, dir, "update-ref", ref, commit)
}

func TestConformance(t *testing.T) {
	refstoretest.Run(t, func(t *testing.T) refstoretest.Target {
		dir := newDir(t)
		return refstoretest.Target{
			Open:  func(*testing.T) refstore.Store { return open(dir) },
			Plant: func(t *testing.T, ref string) { plant(t, dir, ref) },
			Damage: func(t *testing.T, ref string) {
				if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(ref)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

// TestConformanceThroughGit reads the refs through git, as where they are not kept in files.
func TestConformanceThroughGit(t *testing.T) {
	refstoretest.Run(t, func(t *testing.T) refstoretest.Target {
		dir := newDir(t)
		reftable := exec.CommandContext(t.Context(), "git", "init", "--quiet", "--bare", "--ref-format=reftable", dir)
		if err := reftable.Run(); err != nil { // before git 2.45, when it took no notice of the setting
			git(t, dir, "init", "--quiet", "--bare", dir)
			git(t, dir, "config", "extensions.refstorage", "files")
		}
		return refstoretest.Target{
			Open:   func(*testing.T) refstore.Store { return open(dir) },
			Plant:  func(t *testing.T, ref string) { plant(t, dir, ref) },
			Racers: 4,
		}
	})
}

func swap(t *testing.T, s refstore.Store, changes ...refstore.Change) (refstore.OID, error) {
	t.Helper()
	tx, err := s.Build(changes...)
	if err != nil {
		t.Fatal(err)
	}
	return tx.Updates[0].New, s.Swap(t.Context(), tx, nil)
}

func change(ref string, old refstore.OID, text string) refstore.Change {
	return refstore.Change{Ref: ref, Old: old, Message: []byte(text + "\n"), When: time.Unix(1767323045, 0)}
}

func TestManyCreateAtOnce(t *testing.T) {
	dir := newDir(t)
	won := make([]bool, 30)
	var group sync.WaitGroup
	for i := range won {
		group.Go(func() {
			_, err := swap(t, open(dir), change(ref, "", "racer "+strings.Repeat("x", i)))
			if err != nil && !errors.Is(err, refstore.ErrConflict) {
				t.Errorf("%d: %v", i, err)
			}
			won[i] = err == nil
		})
	}
	group.Wait()
	winners := 0
	for _, w := range won {
		if w {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%d winners", winners)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	git(t, dir, "fsck", "--strict")
}

// TestPackedAndSwept reads what gc moved into packs and packed-refs, and swaps it.
func TestPackedAndSwept(t *testing.T) {
	dir := newDir(t)
	s := open(dir)
	tip, err := swap(t, s, change(ref, "", "one"))
	if err != nil {
		t.Fatal(err)
	}
	tip, err = swap(t, s, change(ref, tip, "two"))
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "gc", "--quiet", "--prune=now")
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(ref))); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the ref was not packed: %v", err)
	}
	chain, err := open(dir).Log(t.Context(), tip, 9)
	if err != nil || len(chain) != 2 {
		t.Fatalf("log: %v, %v", chain, err)
	}
	if _, err := swap(t, s, change(ref, tip, "three")); err != nil {
		t.Fatal(err)
	}
	refs, err := s.List(t.Context(), "refs/worklease/")
	if err != nil || len(refs) != 1 || string(refs[0].Commit.Message) != "three\n" {
		t.Fatalf("list: %v, %v", refs, err)
	}
}

// TestReadsWhilePacking never misses a ref that moves between its file and packed-refs.
func TestReadsWhilePacking(t *testing.T) {
	dir := newDir(t)
	s := open(dir)
	tip, err := swap(t, s, change(ref, "", "start"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 30 {
			if tip, err = swap(t, s, change(ref, tip, strings.Repeat("x", i))); err != nil {
				t.Errorf("swap: %v", err)
				return
			}
			git(t, dir, "pack-refs", "--all", "--prune")
		}
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		refs, err := open(dir).List(t.Context(), ref)
		if err != nil || len(refs) != 1 || refs[0].Err != nil {
			t.Errorf("list: %v, %v", refs, err)
			<-done
			return
		}
	}
}

// TestReadsCreateNothing: a clone that only looks gets no repository.
func TestReadsCreateNothing(t *testing.T) {
	dir := newDir(t)
	if refs, err := open(dir).List(t.Context(), "refs/worklease/"); err != nil || len(refs) != 0 {
		t.Fatalf("list: %v, %v", refs, err)
	}
	if _, err := os.Lstat(filepath.Dir(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a read created something: %v", err)
	}
}

// TestInsideAHook: the variables that git sets for hooks of the user's repository must not lead anywhere.
func TestInsideAHook(t *testing.T) {
	dir, users := newDir(t), filepath.Join(t.TempDir(), "user.git")
	git(t, users, "init", "--quiet", "--bare", users)
	env := append(os.Environ(), "GIT_DIR="+users, "GIT_QUARANTINE_PATH="+users, "GIT_OBJECT_DIRECTORY="+filepath.Join(users, "objects"),
		"GIT_NAMESPACE=ns", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=maybe")
	s := refstore.New(localgit.New(localgit.Options{Dir: dir, Git: &gitexec.Git{Env: env}, Now: time.Now}), refstore.Options{})
	if _, err := swap(t, s, change(ref, "", "one")); err != nil {
		t.Fatal(err)
	}
	if got := git(t, users, "for-each-ref"); got != "" {
		t.Errorf("the user's repository has %s", got)
	}
	if got := git(t, users, "count-objects"); !strings.HasPrefix(got, "0 objects") {
		t.Errorf("the user's repository has %s", got)
	}
	if got := git(t, dir, "for-each-ref", "--format=%(refname)"); got != ref {
		t.Errorf("ours has %q", got)
	}
}

// TestHeldLock: a lock that another git holds is a refusal that changes nothing, and never a wrong answer.
func TestHeldLock(t *testing.T) {
	dir := newDir(t)
	s := open(dir)
	tip, err := swap(t, s, change(ref, "", "one"))
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, filepath.FromSlash(ref)+".lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = swap(t, s, change("refs/worklease/claims/b", "", "one"), change(ref, tip, "two"))
	var refused *refstore.RefusedError
	if !errors.As(err, &refused) || len(refused.Reasons) != 2 {
		t.Fatalf("got %v, want refused with a reason for both refs", err)
	}
	refs, err := s.List(t.Context(), "refs/worklease/")
	if err != nil || len(refs) != 1 || refs[0].Commit.OID != tip {
		t.Fatalf("list: %v, %v", refs, err)
	}
}

func TestFaults(t *testing.T) {
	dir := newDir(t)
	if _, err := swap(t, open(dir), change(ref, "", "one")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, filepath.FromSlash(ref))
	for name, test := range map[string]struct {
		setup func() error
		dir   string
	}{
		"a damaged ref":           {func() error { return os.WriteFile(file, nil, 0o600) }, dir},
		"a file in its place":     {func() error { return os.WriteFile(dir+"x", nil, 0o600) }, dir + "x"},
		"a SHA-256 repository":    {func() error { return exec.Command("git", "init", "--bare", "--object-format=sha256", dir+"256").Run() }, dir + "256"},
		"a folder that is no git": {func() error { return os.MkdirAll(dir+"y/z", 0o700) }, dir + "y"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.setup(); err != nil {
				t.Fatal(err)
			}
			_, err := swap(t, open(test.dir), change(ref, "", "two"))
			var u *refstore.UnavailableError
			if !errors.As(err, &u) || u.Sent || u.Trouble != refstore.TroubleLocal {
				t.Fatalf("got %v, want unavailable, local", err)
			}
		})
	}
}

func TestGitMissing(t *testing.T) {
	dir := newDir(t)
	if _, err := swap(t, open(dir), change(ref, "", "one")); err != nil {
		t.Fatal(err)
	}
	s := refstore.New(localgit.New(localgit.Options{Dir: dir, Git: &gitexec.Git{Program: filepath.Join(dir, "no-git")}, Now: time.Now}), refstore.Options{})
	_, err := swap(t, s, change("refs/worklease/claims/b", "", "two"))
	var u *refstore.UnavailableError
	if !errors.As(err, &u) || u.Sent || u.Trouble != refstore.TroubleLocal {
		t.Fatalf("got %v, want unavailable, local", err)
	}
}

func TestSymbolicRef(t *testing.T) {
	dir := newDir(t)
	s := open(dir)
	tip, err := swap(t, s, change(ref, "", "one"))
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "symbolic-ref", "refs/worklease/claims/link", ref)
	refs, err := s.List(t.Context(), "refs/worklease/")
	if err != nil || len(refs) != 2 || refs[1].Commit.OID != tip {
		t.Fatalf("list: %v, %v", refs, err)
	}
	if _, err := swap(t, s, change("refs/worklease/claims/link", tip, "two")); err != nil {
		t.Fatal(err)
	}
	if got := git(t, dir, "rev-parse", ref); got != string(tip) {
		t.Errorf("writing the link moved what it pointed to")
	}
}
