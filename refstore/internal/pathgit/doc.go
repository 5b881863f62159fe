// Package pathgit is the transport to a repository on this machine, named by a path or a file:// URL. It runs the
// system's git upload-pack and receive-pack there, one process an exchange, so that the repository's own hooks and settings
// are obeyed.
//
// It does not write to a repository by itself, knows no URL rewriting, and does not retry. The processes get no variable
// that names another repository, and end with the context.
package pathgit
