package sshgit

import (
	"context"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
)

// idleLife is how long a session waits for the commits of the refs that it has listed to be asked for.
const idleLife = 300 * time.Millisecond

// Refs lists by ls-refs where the server speaks version 2, otherwise from its advertisement.
func (t *transport) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	if s := t.takeIdle(); s != nil {
		s.hangUp()
	}
	t.early.giveUp()
	s, err := t.openReader(ctx, prefixes)
	if err != nil {
		return nil, err
	}
	refs := s.advert.Refs
	if s.advert.Version == 2 {
		if refs, err = t.lsRefs(ctx, s, prefixes); err != nil {
			return nil, err
		}
	}
	if len(refs) == 0 {
		s.hangUp()
	} else {
		t.keep(s)
	}
	return refs, nil
}

// openReader starts upload-pack.
func (t *transport) openReader(ctx context.Context, prefixes []string) (*session, error) {
	s, err := t.open(ctx, t.o.UploadPack, true, prefixes)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.server.ReadV2 = s.advert.Version == 2
	t.mu.Unlock()
	if err := gitwire.OnlySHA1(t.address.name, s.advert.Format); err != nil {
		s.hangUp()
		return nil, err
	}
	return s, nil
}

func (t *transport) lsRefs(ctx context.Context, s *session, prefixes []string) (map[string]refstore.OID, error) {
	defer s.within(ctx)()
	if err := gitwire.WriteLsRefs(s, prefixes); err != nil {
		return nil, t.failed(ctx, s, err)
	}
	refs, err := gitwire.ReadRefs(s.answer)
	if err != nil {
		return nil, t.failed(ctx, s, err)
	}
	return refs, nil
}

// Commits fetches in the session that has listed the refs, if that is still there.
func (t *transport) Commits(ctx context.Context, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	if len(wants) == 0 {
		return nil, nil
	}
	if s := t.takeIdle(); s != nil {
		objects, err := t.fetch(ctx, s, wants, depth)
		if err == nil || ctx.Err() != nil {
			return objects, err
		}
		// It may have gone away meanwhile.
	}
	t.early.giveUp()
	s, err := t.openReader(ctx, []string{"refs/"})
	if err != nil {
		return nil, err
	}
	if wants = s.sends(wants); len(wants) == 0 {
		s.hangUp()
		return nil, nil
	}
	return t.fetch(ctx, s, wants, depth)
}

// sends are those of wants that the server will send: in version 0 only tips, and it refuses the whole request over any other.
func (s *session) sends(wants []refstore.OID) []refstore.OID {
	if s.advert.Version == 2 {
		return wants
	}
	tips := make(map[refstore.OID]bool, len(s.advert.Refs))
	for _, oid := range s.advert.Refs {
		tips[oid] = true
	}
	return slices.DeleteFunc(slices.Clone(wants), func(oid refstore.OID) bool { return !tips[oid] })
}

// fetch is the session's last exchange.
func (t *transport) fetch(ctx context.Context, s *session, wants []refstore.OID, depth int) (objects []refstore.Object, err error) {
	defer s.within(ctx)()
	if s.advert.Version == 2 {
		if err = gitwire.WriteFetch(s, wants, depth); err == nil {
			objects, err = gitwire.ReadFetch(s.answer)
		}
	} else {
		if err = gitwire.WriteFetchV0(s, s.advert, wants, depth); err == nil {
			objects, err = gitwire.ReadFetchV0(s.answer)
		}
	}
	if err != nil {
		return nil, t.failed(ctx, s, err)
	}
	if s.advert.Version == 2 {
		s.hangUp()
	} else {
		s.finish()
	}
	return objects, nil
}

// keep leaves a session for Commits, for a moment: it holds a place on the shared connection.
func (t *transport) keep(s *session) {
	t.mu.Lock()
	before := t.idle
	t.idle = s
	t.mu.Unlock()
	if before != nil {
		before.hangUp()
	}
	time.AfterFunc(idleLife, func() {
		if t.forget(s) {
			s.hangUp()
		}
	})
}

// forget says whether s was still idle.
func (t *transport) forget(s *session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != s {
		return false
	}
	t.idle = nil
	return true
}

func (t *transport) takeIdle() *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.idle
	t.idle = nil
	return s
}
