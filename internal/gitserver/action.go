package gitserver

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// Action is what a fault does with a request: it may call backend, and closes or changes the reply. The server's end closes done.
type Action func(w http.ResponseWriter, r *http.Request, backend http.Handler, done <-chan struct{})

// Answer replies with status and body and never reaches the backend.
func Answer(status int, contentType, body string) Action {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler, _ <-chan struct{}) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// HTMLPage replies 200 with a web page, as captive portals and login walls do.
func HTMLPage() Action {
	return Answer(http.StatusOK, "text/html", "<!doctype html><title>Sign in</title><p>Please sign in.</p>\n")
}

// TooMany replies 429.
func TooMany() Action {
	return Answer(http.StatusTooManyRequests, "text/plain", "slow down\n")
}

// Redirect sends the client to base followed by the request's path and query, with status 302, 307 or the like.
func Redirect(status int, base string) Action {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler, _ <-chan struct{}) {
		http.Redirect(w, r, base+r.URL.RequestURI(), status)
	}
}

// LoseReply lets the backend finish, then closes the connection without a word: the change is made and nobody is told.
func LoseReply(w http.ResponseWriter, r *http.Request, backend http.Handler, _ <-chan struct{}) {
	finish(w, r, backend)
	if conn := hijack(w); conn != nil {
		_ = conn.Close()
	}
}

// RefuseConnection closes the connection before the backend sees the request.
func RefuseConnection(w http.ResponseWriter, _ *http.Request, _ http.Handler, _ <-chan struct{}) {
	if conn := hijack(w); conn != nil {
		_ = conn.Close()
	}
}

// CutReply lets the backend finish, sends the head and the first n bytes of the reply's body, and closes the connection.
func CutReply(n int) Action {
	return func(w http.ResponseWriter, r *http.Request, backend http.Handler, _ <-chan struct{}) {
		kept := finish(w, r, backend)
		conn := hijack(w)
		if conn == nil {
			return
		}
		var head bytes.Buffer
		fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", kept.status, http.StatusText(kept.status))
		kept.header.Set("Content-Length", fmt.Sprint(kept.body.Len()))
		_ = kept.header.Write(&head)
		head.WriteString("\r\n")
		head.Write(kept.body.Next(n))
		_, _ = conn.Write(head.Bytes())
		_ = conn.Close()
	}
}

// Hold keeps a request from the backend until it is released, even if its client has gone by then: a late landing.
// It serves one request; make one for each.
type Hold struct {
	arrived, released, landed chan struct{}
	release                   sync.Once
}

// NewHold makes a Hold, whose Do method is an [Action].
func NewHold() *Hold {
	return &Hold{arrived: make(chan struct{}), released: make(chan struct{}), landed: make(chan struct{})}
}

// Arrived is closed when the request has come in, whole, and waits.
func (h *Hold) Arrived() <-chan struct{} { return h.arrived }

// Release lets the request go on.
func (h *Hold) Release() { h.release.Do(func() { close(h.released) }) }

// Landed is closed when the backend has finished with the request.
func (h *Hold) Landed() <-chan struct{} { return h.landed }

// Do is the action.
func (h *Hold) Do(w http.ResponseWriter, r *http.Request, backend http.Handler, done <-chan struct{}) {
	close(h.arrived)
	select {
	case <-h.released:
	case <-done:
		return
	}
	kept := finish(w, r, backend)
	close(h.landed)
	kept.send(w)
}

// finish runs backend to its end, whatever becomes of the client, and keeps the reply.
func finish(w http.ResponseWriter, r *http.Request, backend http.Handler) *reply {
	kept := &reply{header: w.Header().Clone(), status: http.StatusOK}
	backend.ServeHTTP(kept, r)
	return kept
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil
	}
	return conn
}

// reply is a response in memory.
type reply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is the response's header.
func (k *reply) Header() http.Header { return k.header }

// WriteHeader keeps the status.
func (k *reply) WriteHeader(status int) { k.status = status }

// Write keeps a part of the body.
func (k *reply) Write(b []byte) (int, error) { return k.body.Write(b) }

// send writes the response to a client, who may have gone.
func (k *reply) send(w http.ResponseWriter) {
	for name, values := range k.header {
		w.Header()[name] = values
	}
	w.WriteHeader(k.status)
	_, _ = w.Write(k.body.Bytes())
}
