package gitwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestBlind(t *testing.T) {
	known := refstore.Server{Known: when, Format: refstore.SHA1}
	atomic := known
	atomic.Atomic = true
	sha256 := atomic
	sha256.Format = refstore.SHA256
	cases := []struct {
		server refstore.Server
		refs   int
		want   bool
	}{
		{refstore.Server{}, 1, false}, {refstore.Server{Atomic: true}, 1, false},
		{known, 1, true}, {known, 2, false}, {atomic, 2, true}, {sha256, 1, false},
	}
	for _, c := range cases {
		if got := Blind(c.server, c.refs); got != c.want {
			t.Errorf("%+v, %d refs: %v", c.server, c.refs, got)
		}
	}
}

func TestUnfit(t *testing.T) {
	one, two := txOf(change(refA, "", "x")), txOf(change(refA, "", "x"), change(refB, "", "x"))
	other := txOf(change(refA, "", "x"))
	other.Format = refstore.SHA256
	cases := []struct {
		advert *Advert
		tx     *refstore.Tx
		want   refstore.Feature
	}{
		{&Advert{Format: refstore.SHA1}, one, ""},
		{&Advert{Format: refstore.SHA1}, two, refstore.FeatureAtomic},
		{&Advert{Format: refstore.SHA1, Atomic: true}, two, ""},
		{&Advert{Format: refstore.SHA256}, one, refstore.FeatureFormat},
		{&Advert{Format: refstore.SHA1}, other, refstore.FeatureFormat},
	}
	for _, c := range cases {
		var got refstore.Feature
		var unsupported *refstore.UnsupportedError
		if errors.As(c.advert.Unfit("u", c.tx), &unsupported) {
			got = unsupported.Feature
		}
		if got != c.want {
			t.Errorf("%+v: lacks %q, want %q", c.advert, got, c.want)
		}
	}
	learned := (&Advert{Format: refstore.SHA1, Atomic: true, Agent: "git/2"}).Learned(refstore.Server{ReadV2: true}, when)
	if want := (refstore.Server{Known: when, Atomic: true, Format: refstore.SHA1, ReadV2: true, Agent: "git/2"}); learned != want {
		t.Errorf("learned %+v", learned)
	}
}

func TestTrouble(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for err, want := range map[error]refstore.Trouble{
		malformed("x"):                             refstore.TroubleGarbage,
		fmt.Errorf("x: %w", ErrTooLarge):           refstore.TroubleGarbage,
		&RemoteError{Words: "x"}:                   refstore.TroubleDenied,
		io.ErrUnexpectedEOF:                        refstore.TroubleNetwork,
		fmt.Errorf("%w", context.DeadlineExceeded): refstore.TroubleDeadline,
	} {
		if got := Trouble(t.Context(), err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
		if got := Trouble(over, err); got != refstore.TroubleDeadline {
			t.Errorf("%v after the end is %s", err, got)
		}
	}
}
