package gitserver

import (
	"net"
	"sync/atomic"
)

// Traffic counts what went through a server or a proxy since it started: all bytes of all connections, headers included,
// as TCP carried them.
type Traffic struct {
	// Conns is the number of connections.
	Conns int64
	// Up counts the bytes from clients, Down those to them.
	Up, Down int64
}

// Sub is what came since an earlier reading.
func (t Traffic) Sub(earlier Traffic) Traffic {
	return Traffic{Conns: t.Conns - earlier.Conns, Up: t.Up - earlier.Up, Down: t.Down - earlier.Down}
}

// Bytes is both ways together.
func (t Traffic) Bytes() int64 { return t.Up + t.Down }

type meter struct {
	conns, up, down atomic.Int64
}

func (m *meter) read() Traffic {
	return Traffic{Conns: m.conns.Load(), Up: m.up.Load(), Down: m.down.Load()}
}

// meteredListener counts the bytes of the connections that it accepts.
type meteredListener struct {
	net.Listener
	meter *meter
}

// Accept waits for a connection and counts it.
func (l *meteredListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.meter.conns.Add(1)
	return &meteredConn{Conn: conn, meter: l.meter}, nil
}

type meteredConn struct {
	net.Conn
	meter *meter
}

// Read counts what a client sent.
func (c *meteredConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.meter.up.Add(int64(n))
	return n, err
}

// Write counts what a client is sent.
func (c *meteredConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.meter.down.Add(int64(n))
	return n, err
}
