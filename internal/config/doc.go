// Package config gives every setting its value and says where the value comes from: a flag, the environment, git's
// configuration, the policy file or the default, in this order.
//
// [Specs] is the one table of settings; documentation, `config show` and [Load] derive from it. The policy file comes with
// the repository and is therefore not trusted: it sets less than the others, holds no command, and names a remote only
// by a configured name or an https, ssh or file URL.
//
// The package reads the policy file and nothing else; git's configuration and the environment are handed in.
package config
