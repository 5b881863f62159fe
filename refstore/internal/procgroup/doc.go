// Package procgroup keeps writes that are under way out of the reach of what is typed at the terminal.
package procgroup
