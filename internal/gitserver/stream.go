package gitserver

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

const (
	chunkSize  = 32 << 10
	chunkQueue = 256
)

// chunk is a piece of a stream and when it may be passed on.
type chunk struct {
	data []byte
	due  time.Time
}

// stream is one direction of a proxied connection.
type stream struct {
	from, to net.Conn
	limit    limit
	count    func(int64) int64
}

// read passes what comes in to chunks, due after delay, and closes chunks at the end.
func (s *stream) read(ctx context.Context, chunks chan<- chunk, delay time.Duration) {
	defer close(chunks)
	for {
		buf := make([]byte, chunkSize)
		n, err := s.from.Read(buf)
		if n > 0 {
			select {
			case chunks <- chunk{buf[:n], time.Now().Add(delay)}:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// write passes chunks on when they are due. It returns true where the whole connection is to end: at the cut or on a failure.
func (s *stream) write(ctx context.Context, chunks <-chan chunk) bool {
	for left := s.limit.after; left != 0; {
		c, ok := <-chunks
		if !ok {
			return !halfClose(s.to)
		}
		if !waitUntil(ctx, c.due) {
			return true
		}
		if left > 0 && int64(len(c.data)) > left {
			c.data = c.data[:left]
		}
		n, err := s.to.Write(c.data)
		s.count(int64(n))
		if err != nil {
			return true
		}
		if left > 0 {
			left -= int64(n)
		}
	}
	s.cut(chunks)
	return true
}

// cut prepares the end of a connection at its limit.
func (s *stream) cut(chunks <-chan chunk) {
	switch s.limit.how {
	case Stalls:
		for range chunks { //nolint:revive // until its source hangs up, or the connection's end
		}
	case Resets:
		for _, conn := range []net.Conn{s.from, s.to} {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // the close that follows resets it
			}
		}
	case Ends:
	}
}

// halfClose passes the end of one direction on and leaves the other open.
func halfClose(conn net.Conn) bool {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return false
	}
	err := tcp.CloseWrite()
	return err == nil || errors.Is(err, io.EOF)
}

func waitUntil(ctx context.Context, due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
