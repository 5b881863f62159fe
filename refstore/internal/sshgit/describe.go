package sshgit

import "context"

// Sharing describes the connection that calls share.
type Sharing struct {
	// On says that calls share one; otherwise Why says why they don't.
	On  bool
	Why string
	// Alive says that there is one now, which need not be opened.
	Alive bool
	// Socket is the length of its socket's path in bytes, of at most Longest.
	Socket, Longest int
}

// Describe finds out whether calls with these options would share a connection. It opens none.
func Describe(ctx context.Context, o Options) (Sharing, error) {
	t := newTransport(o)
	if err := t.prepare(ctx); err != nil {
		return Sharing{}, err
	}
	s := t.sharing
	return Sharing{On: s.on(), Why: s.why, Alive: s.on() && s.alive(ctx), Socket: len(s.socket), Longest: maxSocket}, nil
}
