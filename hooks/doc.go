// Package hooks says what a policy asks of a change of the code, and what such a change is: of the index, or of commits.
//
// It decides nothing about claims, and reads no clock and no remote; its inner packages do, and put it to work.
package hooks
