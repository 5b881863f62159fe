// Package server is what a bare repository's own hooks do: they refuse whatever breaks the rules of claims, and the pushes of branches that no claim of
// whoever pushes covers.
//
// reference-transaction decides, because the refs are locked by then and what comes is what will be: a push that is not atomic is several
// transactions. pre-receive judges all of a push by the same rules before, and says what is wrong where its words reach whoever pushes.
//
// Time is the server's wall clock, which is given. Not its business: what an administrator does with the hooks turned off, and who may push at all.
package server
