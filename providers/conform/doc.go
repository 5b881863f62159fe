// Package conform looks whether a tracker does what package providers says of one, on whatever is in it: for those who write a program for
// providers/external, and as a part of the suite in providers/providertest, which knows more of its trackers' worlds. It only reads, unless it is told of an
// item to announce work on.
package conform
