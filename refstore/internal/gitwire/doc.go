// Package gitwire reads and writes what git says on the wire: the advertisements, ls-refs, fetch and receive-pack,
// in protocol versions 0 to 2, as far as refs with small commits need it.
//
// It works on any reader and writer: it opens no connection, knows no URL, obeys no deadline and concludes nothing from
// an answer. SHA-1 alone: an advertisement says when a repository has another format.
//
// The other side is not trusted. Every answer is bounded in bytes, refs, objects and inflated size ([ErrTooLarge]), and one
// that breaks the protocol is [ErrMalformed]. An answer that stops before its end is io.ErrUnexpectedEOF, and what the server
// itself says went wrong is a [*RemoteError].
package gitwire
