package sshgit

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

func TestParseAddress(t *testing.T) {
	for url, want := range map[string]address{
		"ssh://h/p/r.git":        {host: "h", path: "/p/r.git"},
		"ssh://git@h:2222/r":     {host: "git@h", port: "2222", path: "/r"},
		"ssh://h:/r":             {host: "h", path: "/r"},
		"git+ssh://h/r":          {host: "h", path: "/r"},
		"ssh+git://h/r":          {host: "h", path: "/r"},
		"ssh://h/~ann/r":         {host: "h", path: "~ann/r"},
		"ssh://h/a%20b":          {host: "h", path: "/a b"},
		"ssh://[::1]/r":          {host: "::1", path: "/r"},
		"ssh://git@[::1]:22/r":   {host: "git@::1", port: "22", path: "/r"},
		"git@h:p/r.git":          {host: "git@h", path: "p/r.git"},
		"h:/r":                   {host: "h", path: "/r"},
		"h:~/r":                  {host: "h", path: "~/r"},
		"h:/~ann/r":              {host: "h", path: "~ann/r"},
		"h:a:b":                  {host: "h", path: "a:b"},
		"h:a%20b":                {host: "h", path: "a%20b"},
		"[h:2222]:r":             {host: "h", port: "2222", path: "r"},
		"[git@h:2222]:r":         {host: "git@h", port: "2222", path: "r"},
		"[::1]:r":                {host: "::1", path: "r"},
		"git@[::1]:r":            {host: "git@::1", path: "r"},
		"ssh://ann:secret@h/r":   {host: "ann:secret@h", path: "/r", name: "ssh://ann@h/r"},
		"ssh://user@corp@host/r": {host: "user@corp@host", path: "/r"},
		"ssh://ann:s%40c@h/r":    {host: "ann:s@c@h", path: "/r", name: "ssh://ann@h/r"},
		"ssh://ann:%73@h/r":      {host: "ann:s@h", path: "/r", name: "ssh://ann@h/r"},
		"ssh://ann:s@c@h/r":      {host: "ann:s@c@h", path: "/r", name: "ssh://ann@h/r"},
	} {
		got, err := parseAddress(url)
		if want.name == "" {
			want.name = url
		}
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", url, got, err, want)
		}
	}
	for _, url := range []string{
		"", "h", "ssh://", "ssh://h", "ssh:///r", "h:", ":r", "ssh://h:x/r", "ssh://h:0/r", "ssh://h:99999/r", "ssh://-o/r", "-h:r", "git@-h:r", "h:-r", "ssh://[::1/r",
		"[::1]x:r", "ssh://h/%zz", "ssh://h/a%00b", "ssh://h/a%0ab", "@h:", "ssh://git@/r", "ssh://a@b@-oProxyCommand=x/r",
	} {
		if got, err := parseAddress(url); err == nil {
			t.Errorf("%q: took it for %+v", url, got)
		}
	}
}

func TestQuoted(t *testing.T) {
	for path, want := range map[string]string{"/r": "'/r'", "/it's": `'/it'\''s'`, "/a!b": `'/a'\!'b'`, "~/a b": "'~/a b'"} {
		if got := (&address{path: path}).quoted(); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestChooseProgram(t *testing.T) {
	for name, test := range map[string]struct {
		env     []string
		config  string
		line    string
		path    string
		variant variant
	}{
		"nothing":          {nil, "", "", "ssh", openssh},
		"command":          {[]string{"GIT_SSH_COMMAND=ssh -v", "GIT_SSH=plink"}, "core.sshcommand\nx", "ssh -v", "ssh", openssh},
		"setting":          {[]string{"GIT_SSH=plink"}, "core.sshcommand\nssh -i k", "ssh -i k", "ssh", openssh},
		"program":          {[]string{"GIT_SSH=/opt/PLINK.EXE"}, "", "", "/opt/PLINK.EXE", plink},
		"tortoise":         {[]string{`GIT_SSH_COMMAND="/opt/Tortoise Git/TortoisePlink.exe" -x`}, "", `"/opt/Tortoise Git/TortoisePlink.exe" -x`, "ssh", tortoise},
		"wrapper":          {[]string{"GIT_SSH_COMMAND=my-ssh"}, "", "my-ssh", "ssh", unknown},
		"named by setting": {[]string{"GIT_SSH=my-ssh"}, "ssh.variant\nsimple", "", "my-ssh", simple},
		"named by both":    {[]string{"GIT_SSH=my-ssh", "GIT_SSH_VARIANT=putty"}, "ssh.variant\nsimple", "", "my-ssh", plink},
		"auto":             {[]string{"GIT_SSH=plink", "GIT_SSH_VARIANT=auto"}, "", "", "plink", plink},
	} {
		config := gitexec.ParseConfig([]byte("local\x00file:x\x00" + test.config + "\x00"))
		p := chooseProgram(&gitexec.Git{Env: append([]string{"PATH=/bin"}, test.env...)}, config)
		if p.line != test.line || p.path != test.path || p.variant != test.variant {
			t.Errorf("%s: got %q, %q, %d", name, p.line, p.path, p.variant)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		variant     variant
		port        string
		interactive bool
		want        string
	}{
		{openssh, "22", false, "-o SendEnv=GIT_PROTOCOL -o BatchMode=yes -p 22"},
		{openssh, "", true, "-o SendEnv=GIT_PROTOCOL"},
		{plink, "22", false, "-batch -P 22"},
		{plink, "22", true, "-P 22"},
		{tortoise, "", true, "-batch"},
		{simple, "", false, ""},
	} {
		tr := &transport{program: &program{variant: test.variant}, address: address{port: test.port}}
		tr.o.Git = &gitexec.Git{Interactive: test.interactive}
		if got := strings.Join(tr.arguments(direct, true), " "); got != test.want {
			t.Errorf("%+v: got %s", test, got)
		}
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]variant{"exec ssh \"$@\"": openssh, "exit 1": simple} {
		wrapper := filepath.Join(dir, "wrapper")
		if err := os.WriteFile(wrapper, []byte("#!/bin/sh\n"+name+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		p := &program{path: wrapper, env: os.Environ()}
		if err := p.resolve(t.Context(), "localhost"); err != nil || p.variant != want {
			t.Errorf("%s: %d, %v", name, p.variant, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &program{path: "ssh", env: os.Environ()}
	if err := p.resolve(ctx, "localhost"); err == nil || p.variant != unknown {
		t.Errorf("cancelled: %d, %v", p.variant, err)
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string]struct {
		words []string
		plain bool
	}{
		`ssh -F '/a b' -o X=y`: {[]string{"ssh", "-F", "/a b", "-o", "X=y"}, true},
		`"a"'b'c ""`:           {[]string{"abc", ""}, true},
		"ssh -i ~/.ssh/k":      {[]string{"ssh", "-i", "~/.ssh/k"}, true},
		`ssh -F "$HOME/x"`:     {[]string{"ssh", "-F", "$HOME/x"}, false},
		"ssh; true":            {[]string{"ssh;", "true"}, false},
		"ssh 'x":               {[]string{"ssh", "x"}, false},
		"":                     {nil, true},
	} {
		got, plain := words(line)
		if !slices.Equal(got, want.words) || plain != want.plain {
			t.Errorf("%q: got %q, %v", line, got, plain)
		}
	}
}

func TestScanConfig(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("x.inc", "Host *\n  ControlMaster=auto\n")
	loop := filepath.Join(dir, "loop")
	for name, test := range map[string]struct {
		content string
		want    bool
	}{
		"none":     {"Host x\n  User ann # no ControlMaster\n", false},
		"plain":    {"host x\n\tcontrolpath ~/.ssh/c\n", true},
		"included": {"Include \"" + dir + "/*.inc\"\n", true},
		"absent":   {"Include " + dir + "/no/*\n", false},
		"loop":     {"Include " + loop + "\n", true},
		"bush":     {strings.Repeat("Include "+filepath.Join(dir, "bush")+"\n", 9), true}, // as many as 9 to the power of how deep it is read
	} {
		if got := scanConfig([]string{write(name, test.content)}, io.Discard); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestConfigFiles(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"ssh -F /a", "/a"}, {"ssh -v -F/a", "/a"}, {"ssh -F none", ""}, {"ssh", filepath.Join(homeDir(), ".ssh", "config") + " /etc/ssh/ssh_config"},
	} {
		if got := strings.Join(configFiles(strings.Fields(test.args)), " "); got != test.want {
			t.Errorf("%s: got %s", test.args, got)
		}
	}
}

func TestPrivateFolder(t *testing.T) {
	dir := t.TempDir()
	if err := privateFolder(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o770); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "new"), link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{open, link, file, filepath.Join(dir, "no", "parent")} {
		if err := privateFolder(bad); err == nil {
			t.Errorf("took %s", bad)
		}
	}
}

func TestWhyClosed(t *testing.T) {
	for _, test := range []struct {
		code int
		said string
		want refstore.Trouble
	}{
		{255, "git@h: Permission denied (publickey).", refstore.TroubleAuth},
		{255, "Host key verification failed.", refstore.TroubleAuth},
		{255, "kex_exchange_identification: Connection closed by remote host", refstore.TroubleBusy},
		{255, "ssh: connect to host h port 22: Connection refused", refstore.TroubleNetwork},
		{255, "", refstore.TroubleNetwork},
		{-1, "", refstore.TroubleNetwork},
		{128, "fatal: '/r' does not appear to be a git repository", refstore.TroubleNotFound},
		{1, "ERROR: Permission to a/b denied to c.", refstore.TroubleDenied},
		{127, "sh: 1: git-receive-pack: not found", refstore.TroubleNotFound},
		{127, "sh: 1: my-ssh: not found", refstore.TroubleLocal},
	} {
		if got := whyClosed(test.code, withoutNoise(test.said)); got != test.want {
			t.Errorf("%d, %s: got %s, want %s", test.code, test.said, got, test.want)
		}
	}
}

func TestWithoutNoise(t *testing.T) {
	got := withoutNoise("mux_client_request_session: session request failed: Session open refused by peer\r\n" +
		"ControlSocket /x already exists, disabling multiplexing\n\nfatal: no\n")
	if !slices.Equal(got, []string{"fatal: no"}) {
		t.Errorf("got %q", got)
	}
}
