package linear

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

// canned answers every request with the same.
type canned struct {
	status int
	body   []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: c.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(c.body)), Request: r}, nil
}

// FuzzAnswer: whatever is answered is an error that is known, or items with sound keys.
func FuzzAnswer(f *testing.F) {
	issue := `{"id":"u","identifier":"ENG-1","title":"t","url":"https://linear.app/a/issue/ENG-1","priority":1,"prioritySortOrder":1,"updatedAt":"2026-01-02T03:04:05Z",
		"state":{"id":"s","name":"Todo","type":"unstarted"},"labels":{"nodes":[{"name":"a"}]},"inverseRelations":{"nodes":[{"type":"blocks","issue":{"identifier":"ENG-2","state":{"type":"done"}}}]},
		"attachments":{"nodes":[{"url":"https://github.com/a/b/pull/1","metadata":{"status":"open"}}]},"team":{"states":{"nodes":[{"id":"x","name":"Doing","type":"started","position":1}]}}}`
	for _, seed := range []string{
		`{"data":{"teams":{"nodes":[{"key":"ENG"}]},"viewer":{"id":"v","displayName":"me"},"issues":{"nodes":[` + issue + `]},"issueUpdate":{"success":true,"issue":` + issue + `}}}`,
		`{"data":{"teams":{"nodes":[{"key":"ENG"}]},"issues":{"nodes":[` + issue + `,null],"pageInfo":{"hasNextPage":true,"endCursor":"x"}}},"errors":[{"path":["issues","nodes",1]}]}`,
		`{"errors":[{"message":"m","extensions":{"code":"RATELIMITED"}}]}`, `{"data":null}`, `[]`, `<html>`, ``,
	} {
		f.Add(200, []byte(seed))
		f.Add(400, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		open := func() *Provider {
			return testProvider(t, Options{Teams: []string{"ENG"}, Token: token, HTTP: &http.Client{Transport: canned{status, body}}})
		}
		known := func(err error) {
			for _, is := range []error{providers.ErrBroken, providers.ErrUnauthorised, providers.ErrRateLimited, providers.ErrUnavailable, providers.ErrNotFound, providers.ErrUnsupported, providers.ErrTaken} {
				if errors.Is(err, is) {
					return
				}
			}
			t.Errorf("%v", err)
		}
		p := open()
		listing, err := p.List(t.Context(), nil)
		if err != nil {
			known(err)
		} else {
			for _, item := range listing.Items {
				if key, err := p.Parse(string(item.Key)); key != item.Key || err != nil || item.Version == "" || item.Status == "" {
					t.Errorf("%+v: %v", item, err)
				}
			}
			for _, trouble := range listing.Troubles {
				known(trouble)
			}
		}
		if _, err := open().Start(t.Context(), "linear:eng-1", robot); err != nil {
			known(err)
		}
		if err := open().Finish(t.Context(), "linear:eng-1", robot, providers.Finished); err != nil {
			known(err)
		}
	})
}
