package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// errorsOf are errors of every kind that say something which somebody else has written.
func errorsOf(text string, at time.Time) []error {
	who := lease.Holder{Agent: text, Session: text, Host: text, Operator: text}
	r := lease.Resource(text)
	rec := &lease.Record{Resource: r, Holder: who, Purpose: text, Release: &lease.Release{ReservedFor: text, Reason: text, By: &who, At: at}}
	cause := errors.New(text)
	return []error{
		cause, &UsageError{Message: text}, &UnhealthyError{Problems: len(text), Exit: Forbidden}, context.Canceled,
		&lease.HeldError{Resource: r, Record: rec, Liveness: lease.Stale, Until: at, TakeableAt: at.Add(time.Hour), Wanted: "path:" + r, Pool: r, Slots: len(text) % 3},
		&lease.HeldError{Resource: r, Record: rec, Reserved: true, Until: at},
		&lease.LostError{Resource: r, By: &who, Since: at, Reason: text, Words: text}, &lease.LostError{Resource: r},
		&lease.PendingError{Verb: lease.Verb(text), Session: text, Resources: []lease.Resource{r, r, r, r}, Err: &refstore.UnavailableError{URL: text, Err: cause}},
		&lease.WhichClaimError{Resources: []lease.Resource{r}}, &lease.PoolError{Resource: r}, &lease.PoolError{Resource: r, Slots: 2},
		&lease.SchemeError{Key: text}, &lease.SchemeError{Key: text, Scheme: text}, &lease.WrongAuthorityError{Resource: r, Want: text, Got: text},
		fmt.Errorf("%s: %w", text, lease.ErrCorrupt), fmt.Errorf("%w: %s", lease.ErrBadHold, text),
		&refstore.RefusedError{Words: text}, &refstore.RefusedError{Reasons: map[string]string{text: text}}, &refstore.UndecidedError{Err: cause},
		&refstore.UnavailableError{URL: text, Trouble: refstore.Trouble(text), Err: cause}, &refstore.UnavailableError{Trouble: refstore.TroubleDenied, Err: cause},
		&refstore.UnsupportedError{URL: text, Feature: refstore.FeatureConfig, Detail: text}, &refstore.HalfAppliedError{Applied: []string{text}},
		&config.Error{Origin: config.Origin{Source: config.SourceGit, Name: text}, Key: text, Value: text, Want: text}, &config.RequiresError{Constraint: text, Version: text},
		&session.StateError{Path: text, Err: cause}, &session.LooseError{Path: text}, &session.CopiedError{Path: text, Was: session.Home{Host: text, Path: text}},
		&session.FileError{Path: text, Err: cause}, &session.AmbiguousError{Resource: r, By: session.Claimant{Name: text}}, &session.FormerError{Resource: r, Worktree: text},
		&session.HereError{Resource: r, Session: text}, &session.OtherAuthorityError{Bound: text, Got: text}, &session.NewerError{Path: text}, &session.ReadOnlyError{Path: text, Err: cause},
		&gitenv.RepositoryError{Words: text, Err: cause}, &gitenv.NoSuchRemoteError{Name: text}, &gitenv.SeveralPushURLsError{Remote: text}, &gitenv.WhichRemoteError{Remotes: []string{text}},
		&gitexec.Error{Args: []string{text}, Stderr: text, Err: cause},
		&ForcePersonError{Resource: r, Holder: &who, Runtime: text}, &LocalClaimsError{Resource: r, Holder: who, Until: at},
		&WrongRemoteError{Remote: text, Want: text, Got: text, Right: text, Err: &lease.WrongAuthorityError{Want: text}},
	}
}

// FuzzExplain: whatever a record, a server or a file says, an error is explained in words that do nothing to a terminal, each time in the same.
func FuzzExplain(f *testing.F) {
	for _, s := range []string{"", "plain", "a\x1b[31mb\n", "\u009b\u202e", "bad \xff", "it's:", "://", strings.Repeat("x\n", 50)} {
		f.Add(s, int64(1767323045))
	}
	f.Add("task:demo", int64(-1<<62))
	f.Fuzz(func(t *testing.T, text string, when int64) {
		scene := Scene{Now: time.Unix(1767323045, 0), Zone: time.UTC, Self: lease.Holder{Agent: text, Session: "a/b"}, Writes: len(text)%2 == 0}
		for _, err := range errorsOf(text, time.Unix(when, 0)) {
			for _, err := range []error{err, fmt.Errorf("%s: %w", text, err), errors.Join(err, context.Canceled)} {
				got := Explain(err, scene)
				if got.Reason == "" || got.Exit == OK {
					t.Errorf("%T: %+v", err, got)
				}
				for _, line := range append(got.Lines, got.Message, got.Hint) {
					if term.Clean(line) != line {
						t.Errorf("%T: %q", err, line)
					}
				}
				if again := Explain(err, scene); again.Message != got.Message || again.Hint != got.Hint || again.Reason != got.Reason {
					t.Errorf("%T: %+v, and then %+v", err, got, again)
				}
			}
		}
	})
}

// FuzzQuote: a shell reads one word, which is the text that a terminal can show.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", "it's", "a b", "$(x)`y`", "-x", "a\nb", "\\'", "~", "=ls"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		quoted := Quote(word)
		if term.Clean(quoted) != quoted {
			t.Errorf("%q is quoted as %q", word, quoted)
		}
		if got, ok := unquote(quoted); !ok || got != term.Clean(word) {
			t.Errorf("%q is quoted as %s, which is %q", word, quoted, got)
		}
	})
}

// unquote is what any shell makes of a word; ok is false where it is more than one, or where a shell may make something else of it.
func unquote(word string) (text string, ok bool) {
	if word == "" || strings.ContainsAny(word[:1], "~=") {
		return "", false
	}
	for word != "" {
		switch c := word[0]; {
		case c == '\'':
			end := strings.IndexByte(word[1:], '\'')
			if end < 0 {
				return "", false
			}
			text, word = text+word[1:1+end], word[end+2:]
		case c == '\\' && len(word) > 1:
			text, word = text+word[1:2], word[2:]
		case strings.IndexByte(" \t\n\"$`&;|<>()*?[]#!{}\\^", c) >= 0 || c >= 0x80:
			return "", false
		default:
			text, word = text+string(c), word[1:]
		}
	}
	return text, true
}
