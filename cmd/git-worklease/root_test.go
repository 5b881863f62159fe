package main

import "testing"

// TestCommandsByName: a command line that names a command has that one alone, and any other has all of them, each once.
func TestCommandsByName(t *testing.T) {
	all := newRoot(newApp(&env{})).Commands()
	if len(all) != len(commands())+1 {
		t.Errorf("%d commands", len(all))
	}
	for name := range commands() {
		made := newRootFor(newApp(&env{}), []string{name, "-h"}).Commands()
		if len(made) != 2 || made[0].Name() != name && made[1].Name() != name {
			t.Errorf("%s: %v", name, made)
		}
	}
	for _, args := range [][]string{{"--json", "push"}, {"acquire", "x"}, {"help"}, {"__complete", "p"}, {"psuh"}} {
		if made := newRootFor(newApp(&env{}), args).Commands(); len(made) != len(all) {
			t.Errorf("%q: %d commands", args, len(made))
		}
	}
}
