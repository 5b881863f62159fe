package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
)

// FuzzParseDuration: what is read is no negative time, and is written so that it is read again.
func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"1h", "2w1d3h", "", "d", "-1s", "4095w65535d2000000h", "1.5h", "60"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, ok := ParseDuration(s)
		if !ok {
			return
		}
		if d < 0 || strings.Trim(s, "0123456789.") == "" {
			t.Errorf("%q: %v", s, d)
		}
		if again, ok := ParseDuration(term.Length(d)); !ok || again != d {
			t.Errorf("%q is %v, which %q is not", s, d, term.Length(d))
		}
	})
}

// FuzzParsePolicy: a policy file of any bytes is refused with an error of ours, or its settings are.
func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte("version = 1\nremote = 'origin'\n[lease]\nttl = '1d'\n[pools]\ngpu = 2\n[[rule]]\nbranch = 'x'\n"))
	f.Add([]byte("requires = '>= 1, < 2'\n"))
	f.Add([]byte("rule = [{branch = '{a}/**', paths = ['x[!-]', '!y/'], claim = 'task:{a}'}]\nenforce.exempt = ['refs/{x}']\n"))
	f.Add([]byte("lease.ttl = 1979-05-27T07:32:00Z\n'' = {}\n"))
	f.Add([]byte("a = [\"\"\"x\"\"\"\", [[[[[[[[[[1]]]]]]]]]]]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy(data)
		if err != nil {
			if !errors.Is(err, ErrConfig) {
				t.Fatalf("not an Error: %v", err)
			}
			return
		}
		var tree map[string]any
		if err := toml.Unmarshal(p.Data, &tree); err != nil || nesting(tree) > 4*maxNesting {
			t.Errorf("it is %d deep, %v", nesting(tree), err)
		}
		if err := p.Check("1.0.0"); err != nil && !errors.Is(err, ErrConfig) && !errors.Is(err, ErrRequires) {
			t.Errorf("not an Error: %v", err)
		}
		for _, rule := range p.Rules() {
			if rule.Claim == "" || rule.Branch == "" && len(rule.Paths) == 0 {
				t.Errorf("a rule about nothing: %+v", rule)
			}
		}
		s, err := Load(Sources{Policy: p})
		if err != nil && !errors.Is(err, ErrConfig) {
			t.Fatalf("not an Error: %v", err)
		}
		for _, pool := range s.Pools {
			if !isPoolName(pool.Name) || pool.Slots < 1 || pool.Slots > maxSlots {
				t.Errorf("pool %+v", pool)
			}
		}
		if err == nil {
			checkSettings(t, s)
		}
	})
}

// nesting is how deep tables and arrays are, in brackets and in the parts of keys.
func nesting(value any) int {
	most := 0
	switch v := value.(type) {
	case map[string]any:
		for _, part := range v {
			most = max(most, nesting(part))
		}
	case []map[string]any:
		for _, part := range v {
			most = max(most, nesting(part))
		}
	case []any:
		for _, part := range v {
			most = max(most, nesting(part))
		}
	default:
		return 0
	}
	return most + 1
}

// checkSettings compares the settings that hold with the limits of the table.
func checkSettings(t *testing.T, s *Settings) {
	t.Helper()
	between := func(name string, d, low, high time.Duration) {
		if d != 0 && (d < low || d > high || d%time.Second != 0) {
			t.Errorf("%s: %v", name, d)
		}
	}
	between("ttl", s.TTL.V, 10*time.Second, 24*time.Hour)
	between("grace", s.Grace.V, 0, time.Hour)
	between("retention", s.Retention.V, 24*time.Hour, 10*366*24*time.Hour)
	between("timeout", s.Timeout.V, time.Second, time.Hour)
	between("persist", s.SSHPersist.V, 0, 24*time.Hour)
	for _, name := range []string{s.Agent.V, s.Host.V, s.Operator.V, s.Session.V} {
		if name != "" && (!ValidName(name) || len(name) > 128) {
			t.Errorf("name %q", name)
		}
	}
	if id := s.Authority.V; len(id) > 64 || strings.Trim(id, "0123456789abcdef") != "" {
		t.Errorf("authority %q", id)
	}
	if p := s.Prefix.V; !strings.HasPrefix(p, "refs/") || !strings.HasSuffix(p, "/") || strings.Contains(p, "..") || p == "refs/" || p == "refs/heads/" {
		t.Errorf("prefix %q", p)
	}
	if r := s.Remote.V; strings.HasPrefix(r, "-") || strings.ContainsAny(r, "\x00\n") {
		t.Errorf("remote %q", r)
	}
	if s.Takeover.V != TakeoverStale && s.Takeover.V != TakeoverDead || s.Expiry.V != ExpiryClock && s.Expiry.V != ExpiryObserved {
		t.Errorf("takeover %q, expiry %q", s.Takeover.V, s.Expiry.V)
	}
}

// FuzzSettings: any value of any setting from any source is refused with an error that names it, or within the limits, and is shown as it was written.
func FuzzSettings(f *testing.F) {
	for i, value := range []string{"2h", "30s", "dead", "observed", "people", "90d", "origin", "6f1c", "refs/x/", "alice", "/state", "off", "git", "1m", "\x1b[2J", " x"} {
		f.Add(uint8(i), uint8(i), value)
	}
	f.Fuzz(func(t *testing.T, which, source uint8, value string) {
		specs := Specs()
		spec := specs[int(which)%len(specs)]
		var from Sources
		switch source % 3 {
		case 0:
			if spec.Env == "" {
				return
			}
			from.Getenv = func(name string) string { return map[string]string{spec.Env: value}[name] }
		case 1:
			if spec.Flag == "" {
				return
			}
			from.Flags = map[string]string{spec.Flag: value}
		default:
			if spec.Git == "" || strings.Contains(value, "\x00") {
				return
			}
			from.Git = gitexec.ParseConfig([]byte("local\x00file:x\x00" + strings.ToLower(spec.Git) + "\n" + value + "\x00"))
		}
		s, err := Load(from)
		var bad *Error
		switch {
		case err == nil:
			checkSettings(t, s)
		case !errors.As(err, &bad) || bad.Value != value || bad.Want == "" || bad.Origin.IsDefault():
			t.Errorf("%s: %v", spec.Name, err)
		}
		for _, shown := range s.All() {
			if shown.Name == spec.Name && shown.Value != value && (value != "" || source%3 != 0) {
				t.Errorf("%s: %q is shown as %q", spec.Name, value, shown.Value)
			}
		}
	})
}

// FuzzTrusted: what a policy may name as the remote reaches a host by a scheme that is allowed, and nothing in it is an option for a program.
func FuzzTrusted(f *testing.F) {
	for _, s := range []string{"origin", "https://h/a", "ssh://git@h:22/a", "git@h:a/b", "file:///a", "ext::sh", "a@b@-oX=y:z", "ssh://h/~-x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !trustedRemote(s) {
			return
		}
		kind := gitexec.KindOf(s)
		if kind != gitexec.KindHTTP && kind != gitexec.KindSSH && kind != gitexec.KindFile && (kind != gitexec.KindPath || strings.ContainsAny(s[:1], "./~")) {
			t.Errorf("%q is of kind %d", s, kind)
		}
		if strings.HasPrefix(strings.ToLower(s), "http://") || s[0] == '-' || hasControl(s) {
			t.Errorf("%q", s)
		}
		authority, _, _ := strings.Cut(s, ":")
		if _, rest, ok := strings.Cut(s, "://"); ok {
			authority, _, _ = strings.Cut(rest, "/")
		}
		if host := authority[strings.LastIndexByte(authority, '@')+1:]; (kind == gitexec.KindSSH || kind == gitexec.KindHTTP) && (strings.HasPrefix(host, "-") || strings.HasPrefix(authority, "-")) {
			t.Errorf("%q: host %q", s, host)
		}
	})
}

// FuzzRequires: a constraint is well formed or not, whatever version runs, and every version fulfils that it is itself.
func FuzzRequires(f *testing.F) {
	f.Add("0.2.0", ">= 0.2, < 2")
	f.Add("devel", "== 1")
	f.Add("v1.2.3-rc1+x", ">=1.2.3,")
	f.Fuzz(func(t *testing.T, running, constraint string) {
		ok, formed := satisfies(running, constraint)
		if _, same := satisfies("", constraint); same != formed || ok && !formed {
			t.Errorf("%q with %q: %t, %t, %t", constraint, running, ok, formed, same)
		}
		v, released := parseVersion(running)
		if !released {
			return
		}
		number := fmt.Sprintf("%d.%d.%d.%d", v[0], v[1], v[2], v[3])
		for op, want := range map[string]bool{"=": true, "<=": true, ">=": true, "<": false, ">": false} {
			if ok, formed := satisfies(running, op+" "+number); ok != want || !formed {
				t.Errorf("%s %s %s: %t, %t", running, op, number, ok, formed)
			}
		}
	})
}
