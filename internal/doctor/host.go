package doctor

import (
	"net/url"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// Host is what is known of a public host of repositories.
type Host struct {
	Name string
	// Pushes are how many a minute it recommends at most for a repository, Reads how many a second; 0: it names none.
	Pushes, Reads int
	// NotAtomic and BranchesOnly are what it is reported to lack.
	NotAtomic, BranchesOnly bool
	// Web says that the same repository is served over https under the same path.
	Web bool
}

// usualPushes is the rate above which a host that names no limit is likely to slow a clone down.
const usualPushes = 60

// hosts are the known ones, by the end of the host's name.
var hosts = []struct {
	suffix string
	host   Host
}{
	{"github.com", Host{Name: "GitHub", Pushes: 6, Reads: 15, Web: true}},
	{"gitlab.com", Host{Name: "GitLab", Web: true}},
	{"bitbucket.org", Host{Name: "Bitbucket", Web: true}},
	{"codeberg.org", Host{Name: "Codeberg", Web: true}},
	{"dev.azure.com", Host{Name: "Azure DevOps", NotAtomic: true}},
	{"visualstudio.com", Host{Name: "Azure DevOps", NotAtomic: true}},
	{"amazonaws.com", Host{Name: "AWS CodeCommit", NotAtomic: true}},
	{"codeup.aliyun.com", Host{Name: "Codeup", BranchesOnly: true}},
}

// HostOf tells a public host by a remote's URL.
func HostOf(remote string) (Host, bool) {
	name, _ := address(remote)
	for _, h := range hosts {
		if name == h.suffix || strings.HasSuffix(name, "."+h.suffix) {
			return h.host, true
		}
	}
	return Host{}, false
}

// address is the host's name and the path of a URL over http or ssh; both "" for any other.
func address(remote string) (host, path string) {
	switch gitexec.KindOf(remote) {
	case gitexec.KindHTTP, gitexec.KindSSH:
	default:
		return "", ""
	}
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil {
			return "", ""
		}
		return strings.ToLower(u.Hostname()), strings.TrimPrefix(u.Path, "/")
	}
	authority, path, _ := strings.Cut(remote, ":")
	return strings.ToLower(authority[strings.LastIndexByte(authority, '@')+1:]), strings.TrimPrefix(path, "/")
}

// WebURL is where a repository can be read over http without a key: its own URL without credentials, or for some public hosts what follows from
// that for ssh, and then derived is set. It is "" where nothing is known.
func WebURL(remote string) (web string, derived bool) {
	if gitexec.KindOf(remote) == gitexec.KindHTTP {
		return gitexec.Redact(remote), false
	}
	host, path := address(remote)
	if h, ok := HostOf(remote); ok && h.Web && path != "" {
		return "https://" + strings.TrimPrefix(strings.TrimPrefix(host, "ssh."), "altssh.") + "/" + path, true
	}
	return "", false
}

// Limits reports what is known of the host, and how many pushes this clone has made in the last minute; nil where that is not counted.
func Limits(r *Report, remote string, pushes *int) {
	h, known := HostOf(remote)
	switch {
	case h.NotAtomic:
		r.Note(IDHost, "claim one resource at a time", "%s is reported to change several refs one by one, so that it can't hold a claim on several resources", h.Name)
	case h.BranchesOnly:
		r.Warn(IDHost, "set worklease.prefix to a folder of branches, such as refs/heads/worklease/", "%s is reported to take branches and tags alone", h.Name)
	case h.Pushes > 0:
		r.Note(IDHost, "", "%s recommends at most %d pushes a minute and %d reads a second for a repository", h.Name, h.Pushes, h.Reads)
	}
	if pushes == nil {
		return
	}
	limit := h.Pushes
	if limit == 0 {
		limit = usualPushes
	}
	if *pushes <= limit {
		r.Good(IDPushes, "%s in the last minute by this clone", countPushes(*pushes)).Details = pushDetails{*pushes, limit}
		return
	}
	says := "a host may slow it down"
	if known && h.Pushes > 0 {
		says = h.Name + " recommends at most that many for a repository"
	}
	r.Warn(IDPushes, "claim for longer with --ttl, or renew less often", "%s in the last minute by this clone, above %d: %s", countPushes(*pushes), limit, says).
		Details = pushDetails{*pushes, limit}
}

type pushDetails struct {
	Pushes int `json:"pushes"`
	Limit  int `json:"limit"`
}

func countPushes(n int) string {
	if n == 1 {
		return "1 push"
	}
	return strings.TrimSuffix(count(n, "push"), "s") + "es"
}
