package remote

import "github.com/git-worklease/git-worklease/refstore/internal/cligit"

// Code is what a user wants to push by git: refs of the user's own repository, alone or in one request with records.
type Code = cligit.Code

// CodePlan is what a push of code would do.
type CodePlan = cligit.Plan

// CodeRef is git's word on one ref of a push.
type CodeRef = cligit.CodeRef

// CodeError is how a push of code failed without having changed anything.
type CodeError = cligit.CodeError

// The conditions of a [CodeError].
var (
	// ErrCodeRefused: git, a hook or the server will not have the code.
	ErrCodeRefused = cligit.ErrCodeRefused
	// ErrCodeCall: git can't make out what is to be pushed, or to where.
	ErrCodeCall = cligit.ErrCodeCall
)
