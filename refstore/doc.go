// Package refstore keeps records as refs of a git remote, and changes them only by exact compare-and-swap.
//
// A record is a commit with the empty tree; its message is the record. [Store] lists refs with their
// records and swaps one or several of them at once. The git server decides every swap: it names the object ID
// that it replaces, so a writer that has not seen the newest record changes nothing.
//
// The package knows nothing of leases, and reads no clock but the one it is given: the wall clock stamps when
// something was seen, and is compared with the server's Date where a transport has one. It promises:
//
//   - a swap that returned nil has landed, whole;
//   - a swap that returned [ErrConflict] or [ErrRefused] has not landed, and never will (or, where the conflict says
//     so, landed unseen and was overtaken);
//   - a swap that returned [ErrUndecided] may have landed, or may land yet;
//   - a swap that returned [ErrUnavailable] was never received by the server.
//
// It does not promise that a listing is a snapshot: two refs that one swap moved may be seen apart.
//
// Package remote opens the store of a URL, package memory makes one without a server, and package refstoretest
// holds the suite that every store passes.
package refstore
