package gitexec

import (
	"bytes"
	"context"
	"strings"
)

// Config is git's configuration as `git config --list -z` gives it: every value of every key, weakest first.
type Config struct {
	entries []Setting
}

// Setting is one value of git's configuration.
type Setting struct {
	// Key is in git's canonical form: section and name in lower case, subsection as written.
	Key string
	// Value is the value; "true" for a key without one.
	Value string
	// Scope is git's word for where it comes from: system, global, local, worktree or command.
	Scope string
	// Origin names the file, as git does.
	Origin string
}

// ReadConfig reads the whole configuration in one call, with scopes and origins. Outside a repository it holds what is
// global.
func ReadConfig(ctx context.Context, g *Git) (*Config, error) {
	out, err := g.Output(ctx, "config", "--list", "-z", "--show-scope", "--show-origin")
	if err != nil {
		return nil, err
	}
	return ParseConfig(out), nil
}

// ParseConfig reads the output of `git config --list -z --show-scope --show-origin`.
func ParseConfig(out []byte) *Config {
	c := &Config{}
	fields := bytes.Split(out, []byte{0})
	for i := 0; i+2 < len(fields); i += 3 {
		key, value, ok := strings.Cut(string(fields[i+2]), "\n")
		if !ok {
			value = "true"
		}
		c.entries = append(c.entries, Setting{Key: key, Value: value, Scope: string(fields[i]), Origin: string(fields[i+1])})
	}
	return c
}

// Get is the last value of key, as git reads a key that has one value.
func (c *Config) Get(key string) (Setting, bool) {
	for i := len(c.entries) - 1; i >= 0; i-- {
		if c.entries[i].Key == key {
			return c.entries[i], true
		}
	}
	return Setting{}, false
}

// Value is the last value of key, or "".
func (c *Config) Value(key string) string {
	s, _ := c.Get(key)
	return s.Value
}

// All is every value of key, weakest first.
func (c *Config) All(key string) []string {
	var all []string
	for _, s := range c.entries {
		if s.Key == key {
			all = append(all, s.Value)
		}
	}
	return all
}

// WithPrefix is every setting whose key starts with prefix, weakest first.
func (c *Config) WithPrefix(prefix string) []Setting {
	var some []Setting
	for _, s := range c.entries {
		if strings.HasPrefix(s.Key, prefix) {
			some = append(some, s)
		}
	}
	return some
}
