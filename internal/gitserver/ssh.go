package gitserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// ErrNoSSHD is returned where no sshd program is installed, or none of the ports tried would do.
var ErrNoSSHD = errors.New("no sshd")

// portTries is how many free ports are tried: sshd can't be handed a listening socket, so another process may be faster.
const portTries = 5

// SSHOptions says how an [SSHServer] behaves. The zero value has sshd's stock limits: ten connections that
// have not logged in yet, from which on more and more are refused, and ten sessions a connection.
type SSHOptions struct {
	// Repos is what [SSHServer.URL] speaks of; the server itself serves every path of the machine.
	Repos *Repos
	// Protocol lets clients ask for protocol v2 (AcceptEnv GIT_PROTOCOL), which a stock sshd does not.
	Protocol bool
	// Config is added to sshd_config, line by line, before our own lines, so that it prevails.
	Config []string
	// Env is added to the environment of every session, and prevails.
	Env []string
}

// SSHServer is an sshd on a port of loopback, into which one key of its own can log in, as the user that runs the tests.
type SSHServer struct {
	// Repos is as in the options.
	Repos *Repos
	// ClientConfig is the path of an ssh_config that logs in to this server.
	ClientConfig string

	dir  string
	opts SSHOptions
	user string
	port string
	cmd  *exec.Cmd
	logs *sshLog
	end  sync.Once
}

// StartSSH runs sshd with its keys and configuration in dir, which must exist and not be shared.
func StartSSH(ctx context.Context, dir string, opts SSHOptions) (*SSHServer, error) {
	me, err := user.Current()
	if err != nil {
		return nil, fmt.Errorf("sshd: %w", err)
	}
	s := &SSHServer{Repos: opts.Repos, ClientConfig: filepath.Join(dir, "ssh_config"), dir: dir, opts: opts, user: me.Username}
	if err := s.keys(ctx); err != nil {
		return nil, fmt.Errorf("sshd: %w", err)
	}
	for range portTries {
		if err = s.start(ctx); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrNoSSHD, err)
}

// URL is where the repository of that name is reached.
func (s *SSHServer) URL(name string) string {
	return "ssh://" + s.user + "@127.0.0.1:" + s.port + s.Repos.Repo(name).Dir
}

// Addr is host:port.
func (s *SSHServer) Addr() string { return net.JoinHostPort("127.0.0.1", s.port) }

// Command is the ssh command line that logs in to this server.
func (s *SSHServer) Command() string { return "ssh -F " + quote(s.ClientConfig) }

// Env makes a client's git log in to this server.
func (s *SSHServer) Env() []string { return []string{"GIT_SSH_COMMAND=" + s.Command()} }

// Logins is how many connections have logged in so far.
func (s *SSHServer) Logins() int { return s.logs.count("Accepted publickey") }

// Refused is how many connections were turned away by MaxStartups so far.
func (s *SSHServer) Refused() int { return s.logs.count("drop connection") }

// Log is what sshd wrote so far.
func (s *SSHServer) Log() string { return s.logs.String() }

// Close ends sshd, its connections, and what runs in them.
func (s *SSHServer) Close() error {
	s.end.Do(func() {
		killTree(s.cmd.Process.Pid)
		_ = s.cmd.Wait() // it was killed
	})
	return nil
}

func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// keys makes the keys of the host and of the user.
func (s *SSHServer) keys(ctx context.Context) error {
	for _, name := range []string{"host_key", "user_key"} {
		keygen := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", s.path(name))
		if out, err := keygen.CombinedOutput(); err != nil {
			return fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	public, err := os.ReadFile(s.path("user_key.pub"))
	if err != nil {
		return err
	}
	return os.WriteFile(s.path("authorized_keys"), public, 0o600)
}

func (s *SSHServer) path(name string) string { return filepath.Join(s.dir, name) }

// start runs sshd on some free port and returns when it listens.
func (s *SSHServer) start(ctx context.Context) error {
	program, err := sshdProgram()
	if err != nil {
		return err
	}
	if s.port, err = freePort(ctx); err != nil {
		return err
	}
	if err := s.configure(); err != nil {
		return err
	}
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), program, "-D", "-e", "-f", s.path("sshd_config"))
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.logs = &sshLog{}
	ready := make(chan bool, 1)
	go s.logs.follow(stderr, ready)
	if !<-ready {
		_ = s.cmd.Wait() // its log says more
		return fmt.Errorf("sshd ended: %s", s.Log())
	}
	return nil
}

// sshdProgram is sshd's absolute path, which it insists on, and sees to the directory that it can't do without.
func sshdProgram() (string, error) {
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return "", err
		}
	}
	for _, name := range []string{"sshd", "/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", exec.ErrNotFound
}

func freePort(ctx context.Context) (string, error) {
	listener, err := listen(ctx)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}

// configure writes the files that name the port.
func (s *SSHServer) configure() error {
	host, err := os.ReadFile(s.path("host_key.pub"))
	if err != nil {
		return err
	}
	lines := append(slices.Clone(s.opts.Config),
		"ListenAddress 127.0.0.1", "Port "+s.port, "HostKey "+s.path("host_key"), "PidFile none", "LogLevel VERBOSE",
		"AuthorizedKeysFile "+s.path("authorized_keys"), "StrictModes no", "UsePAM no", "UseDNS no", "PasswordAuthentication no",
		"KbdInteractiveAuthentication no", "PermitRootLogin yes", "PrintMotd no",
		`SetEnv "`+strings.Join(append(append(slices.Clone(s.opts.Env), serverEnv(s.dir)...), "PATH="+os.Getenv("PATH")), `" "`)+`"`)
	if s.opts.Protocol {
		lines = append(lines, "AcceptEnv GIT_PROTOCOL")
	}
	client := []string{
		"Host *", "IdentityFile " + s.path("user_key"), "IdentitiesOnly yes", "IdentityAgent none", "BatchMode yes",
		"UserKnownHostsFile " + s.path("known_hosts"), "GlobalKnownHostsFile none", "StrictHostKeyChecking yes", "LogLevel ERROR",
	}
	known := "[127.0.0.1]:" + s.port + " " + string(host)
	return errors.Join(
		os.WriteFile(s.path("sshd_config"), []byte(strings.Join(lines, "\n")+"\n"), 0o600),
		os.WriteFile(s.ClientConfig, []byte(strings.Join(client, "\n")+"\n"), 0o600),
		os.WriteFile(s.path("known_hosts"), []byte(known), 0o600))
}

// sshLog keeps what sshd writes.
type sshLog struct {
	mu   sync.Mutex
	text strings.Builder
}

// follow reads to the end, and says on ready whether sshd came to listen.
func (l *sshLog) follow(stderr io.Reader, ready chan<- bool) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		l.mu.Lock()
		l.text.WriteString(lines.Text() + "\n")
		l.mu.Unlock()
		if strings.HasPrefix(lines.Text(), "Server listening on") {
			select {
			case ready <- true:
			default:
			}
		}
	}
	select {
	case ready <- false:
	default:
	}
}

// String is all of it.
func (l *sshLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *sshLog) count(what string) int { return strings.Count(l.String(), what) }
