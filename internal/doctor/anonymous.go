package doctor

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Access is what somebody without credentials may do.
type Access int

// The answers to the question.
const (
	AccessUnknown Access = iota
	AccessOpen
	AccessClosed
)

// anonymousTime bounds the question.
const anonymousTime = 5 * time.Second

// Services of git that may be open to everybody.
const (
	ReadService  = "git-upload-pack"
	WriteService = "git-receive-pack"
)

// Anonymous asks a server over http what it answers to somebody who shows no credentials: no helper is asked, no header of git's configuration is
// sent, no file of passwords is read. The error says why the answer is not known.
func Anonymous(ctx Context, web, service string) (Access, error) {
	client := &http.Client{Timeout: anonymousTime, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(web, "/")+"/info/refs?service="+service, nil)
	if err != nil {
		return AccessUnknown, err
	}
	request.Header.Set("Git-Protocol", "version=2")
	request.Header.Set("User-Agent", "git/2.0 (git-worklease)") // hosts answer others with web pages
	answer, err := client.Do(request)
	if err != nil {
		return AccessUnknown, err
	}
	defer answer.Body.Close() //nolint:errcheck // nothing of it is read
	switch {
	case answer.StatusCode == http.StatusOK && answer.Header.Get("Content-Type") == "application/x-"+service+"-advertisement":
		return AccessOpen, nil
	case answer.StatusCode == http.StatusUnauthorized, answer.StatusCode == http.StatusForbidden, answer.StatusCode == http.StatusNotFound:
		return AccessClosed, nil
	}
	return AccessUnknown, fmt.Errorf("it answers %s", answer.Status)
}

// notPublic is what to do about claims that everybody can read.
const notPublic = "`git config worklease.host NAME` hides the machine's name; `git config worklease.remote URL` of a private repository, or remote in the policy, moves the claims there"

// Public examines whether everybody who reaches the server can read the claims. The web address of a repository that is reached over ssh is only
// tried where elsewhere allows it.
func Public(ctx Context, r *Report, remote string, elsewhere bool) {
	web, derived := WebURL(remote)
	switch {
	case web == "":
		return
	case derived && !elsewhere:
		r.Note(IDPublic, "`git worklease doctor --deep` asks there", "whether %s can be read without signing in was not tried; claims there would be public: holders, hosts, purposes", web)
		return
	}
	access, err := Anonymous(ctx, web, ReadService)
	switch access {
	case AccessOpen:
		r.Warn(IDPublic, notPublic, "%s can be read without signing in: claims are public, with their holders, hosts and purposes, and stay in the history", web)
	case AccessClosed:
		r.Good(IDPublic, "%s can't be read without signing in", web)
	default:
		r.Note(IDPublic, "", "whether %s can be read without signing in is not known: %v", web, err)
	}
}
