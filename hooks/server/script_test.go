package server

import (
	"bytes"
	"testing"
)

func TestScriptIsReadBack(t *testing.T) {
	t.Parallel()
	for _, hook := range Hooks() {
		for _, program := range []string{"/usr/bin/git-worklease", "/it's here/git worklease"} {
			for _, chained := range []string{"", hook + before} {
				text := render(hook, program, chained)
				w, ours := parse(hook, text)
				if !ours || w != (written{program: program, chained: chained}) {
					t.Errorf("%+v, %v", w, ours)
				}
				if w, ours := parse(hook, append(bytes.Clone(text), "exit\n"...)); !ours || !w.changed {
					t.Errorf("a change: %+v, %v", w, ours)
				}
			}
		}
	}
	if _, ours := parse(PreReceive, render(ReferenceTransaction, "/x", "")); ours {
		t.Error("the file of another hook")
	}
	if _, ours := parse(PreReceive, []byte("#!/bin/sh\nexit 0\n")); ours {
		t.Error("somebody else's hook")
	}
}
