// Package httpgit is the transport to a repository behind http or https, in process.
//
// Where enough is known of a server, a push is one POST without the advertisement before it, and so is a read of protocol
// version 2. Credentials come from git's helpers, on demand; settings are git's http.*, matched with the URL as git does.
// Settings that it does not implement are named by [Unsupported], for the caller to take another way.
//
// It speaks HTTP/1.1, never repeats a push that may have been received, and keeps credentials out of every error.
package httpgit
