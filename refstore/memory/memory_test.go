package memory_test

import (
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
	"github.com/git-worklease/git-worklease/refstore/refstoretest"
)

func TestConformance(t *testing.T) {
	refstoretest.Run(t, func(*testing.T) refstoretest.Target {
		repo := &memory.Repository{}
		return refstoretest.Target{
			Open: func(*testing.T) refstore.Store { return refstore.New(repo.Transport(), refstore.Options{}) },
			Plant: func(_ *testing.T, ref string) {
				repo.Set(ref, repo.Add([]byte("tree 95d09f2b10159347eece71399a7e2e907ea3df4f\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nhello\n")))
			},
		}
	})
}
