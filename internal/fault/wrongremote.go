package fault

import (
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/internal/term"
)

// WrongRemoteError adds to an error about the authority of a remote which other remote of the clone carries the right one.
type WrongRemoteError struct {
	// Remote is the configured remote that was asked, "" for a bare URL.
	Remote string
	// Want and Got are the authority that was wanted and the one that was found, "" for none.
	Want, Got string
	// Right is the remote that carries what was wanted, "" where none is known to.
	Right string
	Err   error
}

func (e *WrongRemoteError) Error() string { return e.Err.Error() }

func (e *WrongRemoteError) Unwrap() error { return e.Err }

type wrongRemoteDetails struct {
	Remote string `json:"remote,omitempty"`
	Want   string `json:"wanted_authority"`
	Got    string `json:"found_authority,omitempty"`
	Right  string `json:"right_remote,omitempty"`
}

func tellWrongRemote(f *Fault, err error, _ Scene) {
	var e *WrongRemoteError
	if !errors.As(err, &e) {
		return
	}
	where := "the remote"
	if e.Remote != "" {
		where = "remote " + term.Clean(e.Remote)
	}
	f.Message = fmt.Sprintf("%s carries no authority, and %s is wanted", where, term.Clean(e.Want))
	if e.Got != "" {
		f.Message = fmt.Sprintf("%s carries authority %s, and %s is wanted", where, term.Clean(e.Got), term.Clean(e.Want))
	}
	f.Hint = "none of the clone's other remotes carries it; git remote add the repository that does"
	if e.Right != "" {
		f.Hint = fmt.Sprintf("remote %s carries it: git config worklease.remote %s", term.Clean(e.Right), Quote(e.Right))
	}
	f.Details = wrongRemoteDetails{Remote: e.Remote, Want: e.Want, Got: e.Got, Right: e.Right}
}
