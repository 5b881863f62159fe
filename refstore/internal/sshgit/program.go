package sshgit

import (
	"context"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// variant is how a program wants its options.
type variant int

const (
	unknown  variant = iota // to be found out by asking it
	openssh                 // -p, and options by -o
	plink                   // -P
	tortoise                // -P, and always -batch
	simple                  // none at all
)

// program is the ssh that git would use here.
type program struct {
	// line is a command line for the shell; empty where path is used.
	line string
	// path is a program.
	path    string
	variant variant
	env     []string
	dir     string
}

// chooseProgram follows git: GIT_SSH_COMMAND, core.sshCommand, GIT_SSH, ssh.
func chooseProgram(git *gitexec.Git, config *gitexec.Config) *program {
	env := git.Command(context.Background()).Env // as git would be given it
	p := &program{env: env, dir: git.Dir, path: "ssh"}
	if line := getenv(env, "GIT_SSH_COMMAND"); line != "" {
		p.line = line
	} else if line := config.Value("core.sshcommand"); line != "" {
		p.line = line
	} else if path := getenv(env, "GIT_SSH"); path != "" {
		p.path = path
	}
	named := getenv(env, "GIT_SSH_VARIANT")
	if named == "" {
		named = config.Value("ssh.variant")
	}
	p.variant = variantOf(named, p.name())
	return p
}

// variantOf is the variant that is set, or else the one that the program's name tells.
func variantOf(named, program string) variant {
	switch named {
	case "", "auto":
	case "plink", "putty":
		return plink
	case "tortoiseplink":
		return tortoise
	case "simple":
		return simple
	default:
		return openssh
	}
	switch strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe") {
	case "ssh":
		return openssh
	case "plink":
		return plink
	case "tortoiseplink":
		return tortoise
	}
	return unknown
}

// name is the program's own name, as far as it can be told.
func (p *program) name() string {
	if p.line == "" {
		return p.path
	}
	if words, _ := words(p.line); len(words) > 0 {
		return words[0]
	}
	return ""
}

// command is the program with args, not yet started. Nothing kills it.
func (p *program) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...) //nolint:gosec,noctx // the user's own choice; its life is the session's
	if p.line != "" {
		cmd = exec.Command("sh", append([]string{"-c", p.line + ` "$@"`, p.line}, args...)...) //nolint:gosec,noctx // likewise
	}
	cmd.Dir, cmd.Env = p.dir, env
	return cmd
}

// resolve finds out the variant of a program with an unknown name, as git does: OpenSSH knows -G.
func (p *program) resolve(ctx context.Context, host string) error {
	if p.variant != unknown {
		return nil
	}
	if _, err := p.effective(ctx, host, ""); err != nil {
		if ctx.Err() != nil {
			return err
		}
		p.variant = simple
		return nil
	}
	p.variant = openssh
	return nil
}

// effective is what `ssh -G` says of the settings for a host.
func (p *program) effective(ctx context.Context, host, port string) ([]byte, error) {
	args := []string{"-G"}
	if port != "" {
		args = append(args, "-p", port)
	}
	made := p.command(p.env, append(args, host)...)
	cmd := exec.CommandContext(ctx, made.Path, made.Args[1:]...) //nolint:gosec // see command
	cmd.Dir, cmd.Env, cmd.WaitDelay = made.Dir, made.Env, lingering
	return cmd.Output()
}

func getenv(env []string, name string) string {
	value := ""
	for _, v := range env {
		if n, val, _ := strings.Cut(v, "="); n == name {
			value = val
		}
	}
	return value
}

// words splits a command line that holds nothing but words and quotes, and says whether it is that plain.
func words(line string) (all []string, plain bool) {
	var word strings.Builder
	var quote byte
	plain, inWord := true, false
	for i := range len(line) {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
			word.WriteByte(c)
		case strings.IndexByte("\\$`", c) >= 0:
			plain = false
			word.WriteByte(c)
		case quote == '"':
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				all = append(all, word.String())
				word.Reset()
			}
			inWord = false
		default:
			plain = plain && strings.IndexByte("&;|<>()*?[#{", c) < 0
			inWord = true
			word.WriteByte(c)
		}
	}
	if inWord {
		all = append(all, word.String())
	}
	return all, plain && quote == 0
}

// homeDir is where ssh looks for its configuration: it does not ask HOME.
func homeDir() string {
	me, err := user.Current()
	if err != nil {
		return ""
	}
	return me.HomeDir
}
