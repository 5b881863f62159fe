package sshgit

import (
	"context"
	"sync"
)

// early is a session of receive-pack that is opened before there is anything to send, while the caller still prepares it: the handshake is most
// of what a claim costs. A process never has it beside another session, because those that wait for a place on the shared
// connection would then wait for each other.
type early struct {
	cancel context.CancelFunc
	done   chan struct{}
	s      *session // once done; nil where it failed, and then the push tries by itself and says why

	once sync.Once
}

// startEarly opens the session in the background. prefix is that of the refs that will be pushed.
func (t *transport) startEarly(prefix string) {
	ctx, cancel := context.WithCancel(context.Background())
	e := &early{cancel: cancel, done: make(chan struct{})}
	t.early = e
	go func() {
		defer close(e.done)
		if s, err := t.open(ctx, t.o.ReceivePack, false, []string{prefix}); err == nil {
			e.s = s
		}
	}()
}

// take is the session, once; nil if there is none or ctx ends first.
func (e *early) take(ctx context.Context) (s *session) {
	if e == nil {
		return nil
	}
	e.once.Do(func() {
		select {
		case <-e.done:
			s = e.s
		case <-ctx.Done():
			e.drop()
		}
	})
	return s
}

// giveUp ends the session, unless it was taken.
func (e *early) giveUp() {
	if e != nil {
		e.once.Do(e.drop)
	}
}

func (e *early) drop() {
	e.cancel()
	<-e.done
	if e.s != nil {
		e.s.hangUp()
	}
}
