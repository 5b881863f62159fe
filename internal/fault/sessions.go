package fault

import (
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// kinship says what a holder is to whoever is refused. It goes by names, and only explains.
func kinship(holder, self lease.Holder) string {
	switch {
	case holder == self:
		return " in another clone"
	case holder.Host != self.Host:
		return ""
	case session.IsAncestor(holder.Session, self.Session):
		return ", a parent of this session,"
	case session.IsAncestor(self.Session, holder.Session):
		return ", a child of this session,"
	}
	return ""
}

type formerDetails struct {
	Resource lease.Resource `json:"resource"`
	Worktree string         `json:"worktree"`
}

func tellFormer(f *Fault, err error, _ Scene) {
	var e *session.FormerError
	if !errors.As(err, &e) {
		return
	}
	f.Message = fmt.Sprintf("%s was claimed from an earlier worktree %s, which is gone", term.Clean(string(e.Resource)), term.Clean(e.Worktree))
	f.Hint += fmt.Sprintf(", `git worklease release %s` ends it", Quote(string(e.Resource)))
	f.Details = formerDetails{Resource: e.Resource, Worktree: e.Worktree}
}

func tellCopied(f *Fault, err error, _ Scene) {
	var e *session.CopiedError
	if errors.As(err, &e) {
		f.Message = fmt.Sprintf("this clone's claims were made at %s, and it is a copy of that", term.Clean(e.Was.Where()))
	}
}

// tellFile keeps the file's name apart from what is wrong with it.
func tellFile(f *Fault, err error, _ Scene) {
	var e *session.FileError
	if errors.As(err, &e) {
		f.Details = map[string]any{"file": e.Path}
	}
}
