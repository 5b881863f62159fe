package refstore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestDecodeCommit(t *testing.T) {
	one := refstore.OID(strings.Repeat("1", 40))
	good := string(refstore.EncodeCommit(refstore.SHA1, one, time.Unix(1767323045, 0), []byte("claim\n")))
	edit := func(old, text string) string { return strings.Replace(good, old, text, 1) }
	for name, test := range map[string]struct {
		content string
		ok      bool
	}{
		"as it is":        {good, true},
		"other headers":   {edit("\n\n", "\nencoding x\ngpgsig a\n b\n\n"), true},
		"no message":      {edit("\n\n", "\n"), false},
		"a tree":          {edit(string(refstore.SHA1.EmptyTree()), string(one)), false},
		"two parents":     {edit("author", "parent "+string(one)+"\nauthor"), false},
		"no committer":    {edit("committer", "x-committer"), false},
		"no date":         {edit(" 1767323045 +0000\n\n", "\n\n"), false},
		"before 1970":     {edit("1767323045 +0000\n\n", "-5 +0000\n\n"), false},
		"after year 9999": {edit("1767323045 +0000\n\n", "253402300800 +0000\n\n"), false},
	} {
		content := []byte(test.content)
		c, err := refstore.DecodeCommit(refstore.SHA1, refstore.SHA1.Hash("commit", content), content)
		if (err == nil) != test.ok || err != nil && !errors.Is(err, refstore.ErrNotRecord) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (c.Parent != one || string(c.Message) != "claim\n" || c.When.Unix() != 1767323045) {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if _, err := refstore.DecodeCommit(refstore.SHA1, one, []byte(good)); !errors.Is(err, refstore.ErrNotRecord) {
		t.Errorf("under another's name: %v", err)
	}
}
