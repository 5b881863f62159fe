package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/lease"
)

// Summary is one session of the clone.
type Summary struct {
	// Name is "" where the file can't be read and is not that of the session that asks. File is its name.
	Name, File string
	// Holds are its claims, ended ones included, oldest first.
	Holds []lease.Hold
	// Worktrees are those in which the claims were made, by git's ID, "" for the main one.
	Worktrees map[lease.ClaimID]string
	// made says by whom.
	made map[lease.ClaimID]Maker
	// Err says why the session can't be used: a [*CopiedError], with which the rest is known nevertheless, or what is wrong with its file.
	Err error
}

// Sessions are all sessions that this clone has a file of, sorted by name; those whose file can't be read come first.
func (s *State) Sessions() ([]Summary, error) {
	dir := s.path("sessions")
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !absent(err) {
		return nil, &StateError{dir, err}
	}
	var all []Summary
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		if sum := s.summary(entry.Name()); !absent(sum.Err) {
			all = append(all, sum)
		}
	}
	slices.SortFunc(all, func(a, b Summary) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Unnamed is the session that stands for this worktree where nobody names one, if the claim is its own; "" if it is not, or that session is this one.
func (s *State) Unnamed(claim lease.ClaimID) string {
	name := defaultSession(s.o.Place.Worktree)
	if name == s.o.Session {
		return ""
	}
	sum := s.summary(filepath.Base(s.sessionPath(name)))
	if sum.Err != nil || !slices.ContainsFunc(sum.Holds, func(h lease.Hold) bool { return h.Claim == claim && h.End == nil }) {
		return ""
	}
	return name
}

// summary reads the session that a file is of.
func (s *State) summary(file string) Summary {
	path := s.path("sessions", file)
	var f sessionFile
	err := readJSON(path, secret, &f)
	if err == nil && s.sessionPath(f.Session) != path {
		err = &StateError{path, fmt.Errorf("it is of session %q", f.Session)}
	}
	if err == nil {
		err = f.check(path, f.Session)
	}
	if err != nil {
		sum := Summary{File: file, Err: err}
		if s.sessionPath(s.o.Session) == path {
			sum.Name = s.o.Session
		}
		return sum
	}
	sum := Summary{Name: f.Session, File: file, Holds: f.Holds, Worktrees: map[lease.ClaimID]string{}, made: f.Made, Err: s.checkHome(path, f.Home)}
	for claim, by := range f.Made {
		sum.Worktrees[claim] = by.Worktree
	}
	return sum
}
