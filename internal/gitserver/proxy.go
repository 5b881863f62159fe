package gitserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"time"
)

// Direction is a way through a [Proxy].
type Direction int

// The directions.
const (
	Up   Direction = iota // from the client to the server
	Down                  // from the server to the client
)

// How is how a [Cut] ends a connection.
type How int

// The ways to end.
const (
	Ends   How = iota // both ends are closed
	Resets            // both ends are reset, and what was not yet read is lost
	Stalls            // nothing more comes that way, and nobody is told before one end hangs up
)

// Cut ends connections at a byte.
type Cut struct {
	// Conn is which connection, counted from 1 from when the cut was injected; 0: each.
	Conn int64
	// Direction and After: the connection ends when that many bytes have gone that way.
	Direction Direction
	After     int64
	How       How
}

// ProxyOptions says what a [Proxy] does to connections.
type ProxyOptions struct {
	// Delay is added to what is sent, each way; throughput is not limited. Setting up a connection is not delayed.
	Delay time.Duration
}

// Proxy forwards the TCP connections to a port of loopback, counts their bytes, delays and cuts them.
type Proxy struct {
	target   string
	opts     ProxyOptions
	listener net.Listener
	meter    meter
	ctx      context.Context //nolint:containedctx // the proxy's life
	stop     context.CancelFunc
	busy     sync.WaitGroup

	mu   sync.Mutex
	cuts []*injectedCut
}

type injectedCut struct {
	Cut
	seen int64
}

// StartProxy listens on a free port of 127.0.0.1 and forwards to target, host:port.
func StartProxy(ctx context.Context, target string, opts ProxyOptions) (*Proxy, error) {
	listener, err := listen(ctx)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &Proxy{target: target, opts: opts, listener: listener}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.busy.Go(p.accept)
	return p, nil
}

// Addr is host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Through is rawURL with the proxy's address in place of its host.
func (p *Proxy) Through(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", fmt.Errorf("proxy: %w", err)
	}
	u.Host = p.Addr()
	return u.String(), nil
}

// Traffic is what went through so far.
func (p *Proxy) Traffic() Traffic { return p.meter.read() }

// Inject adds a cut.
func (p *Proxy) Inject(c Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts = append(p.cuts, &injectedCut{Cut: c})
}

// Heal takes all cuts away from the connections to come.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts = nil
}

// Close ends all connections.
func (p *Proxy) Close() error {
	p.stop()
	err := p.listener.Close()
	p.busy.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.meter.conns.Add(1)
		limits := p.limits()
		p.busy.Go(func() { p.forward(client, limits) })
	}
}

// limit is after how many bytes one way of a connection ends, and how; -1: never.
type limit struct {
	after int64
	how   How
}

// limits counts a new connection and says where each way of it ends.
func (p *Proxy) limits() [2]limit {
	p.mu.Lock()
	defer p.mu.Unlock()
	limits := [2]limit{Up: {after: -1}, Down: {after: -1}}
	for _, c := range p.cuts {
		c.seen++
		if c.Conn == 0 || c.Conn == c.seen {
			limits[c.Direction] = limit{c.After, c.How}
		}
	}
	return limits
}

// forward serves one connection until both ways have ended or one was cut.
func (p *Proxy) forward(client net.Conn, limits [2]limit) {
	defer closeConn(client)
	server, err := (&net.Dialer{}).DialContext(p.ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer closeConn(server)
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { closeConn(client); closeConn(server) })
	defer stop()
	var ways sync.WaitGroup
	ways.Go(func() {
		p.way(ctx, cancel, &stream{from: client, to: server, limit: limits[Up], count: p.meter.up.Add})
	})
	ways.Go(func() {
		p.way(ctx, cancel, &stream{from: server, to: client, limit: limits[Down], count: p.meter.down.Add})
	})
	ways.Wait()
}

// way carries one direction and closes the whole connection where it was cut.
func (p *Proxy) way(ctx context.Context, cancel context.CancelFunc, s *stream) {
	chunks := make(chan chunk, chunkQueue)
	p.busy.Go(func() { s.read(ctx, chunks, p.opts.Delay) })
	if s.write(ctx, chunks) {
		cancel()
	}
}

func closeConn(c io.Closer) { _ = c.Close() }
