package session_test

import (
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

func openAuthority(t *testing.T, name, prefix string) error {
	t.Helper()
	store := refstore.New((&memory.Repository{}).Transport(), refstore.Options{})
	t.Cleanup(func() { must(t, store.Close()) })
	_, err := lease.New(lease.Options{
		Store: store, Local: lease.NewMemoryLocal("p"), Clock: &lease.SystemClock{}, Prefix: prefix,
		Holder: lease.Holder{Agent: name, Session: name},
	})
	return err
}

// TestNamesAreTheSameForAll: what the settings accept as a name, claims must accept too, and the reverse.
func TestNamesAreTheSameForAll(t *testing.T) {
	valid := 0
	for _, name := range []string{
		"", "a", "@main", "wt-x", "a b", " a", "a ", "\ta", "a\n", "a\u00a0", "\u2003a", "a\u2028b", "\u2028", "a\u200b", "a\x00b", "a\x7fb", "a\u0085", "\xff", "é",
		strings.Repeat("x", 128), strings.Repeat("x", 129), strings.Repeat("é", 64), strings.Repeat("é", 65), "a/b", "a:b", "-a", "..",
	} {
		accepted, err := config.ValidName(name), openAuthority(t, name, "")
		if accepted != (err == nil) {
			t.Errorf("%q: the settings accept it: %v; claims: %v", name, accepted, err)
		}
		if accepted {
			valid++
		}
	}
	if valid != 13 {
		t.Errorf("%d names were accepted", valid)
	}
}

// TestPrefixesSuitClaims: a prefix that the settings accept is one that claims can be kept below.
func TestPrefixesSuitClaims(t *testing.T) {
	accepted := 0
	for _, prefix := range []string{
		"refs/worklease/", "refs/x/y/", "refs/heads/x/", "refs/-x/", "refs/é/", "refs/a b/", "refs/a\x7f/", "refs/a.lock/", "refs/a./", "refs/.a/", "refs/a..b/",
		"refs/a//", "refs/@{/", "refs/~/", "refs/" + strings.Repeat("x", 600) + "/", "refs/x", "x/",
	} {
		getenv := func(name string) string { return map[string]string{"WORKLEASE_PREFIX": prefix}[name] }
		if _, err := config.Load(config.Sources{Getenv: getenv}); err != nil {
			continue
		}
		accepted++
		if err := openAuthority(t, "a", prefix); err != nil {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	if accepted != 3 {
		t.Errorf("%d prefixes were accepted", accepted)
	}
}
