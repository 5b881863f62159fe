// Package procgroup is for the programs that transports run: it keeps a write that is under way out of the reach of what is typed at the
// terminal, ends a program with all that it has started, and keeps what it says. It starts nothing.
package procgroup
