package remote

import "testing"

func TestClassify(t *testing.T) {
	for url, want := range map[string]kind{
		"https://example.com/a.git":    kindHTTP,
		"HTTP://example.com/a.git":     kindHTTP,
		"ssh://git@example.com/a":      kindSSH,
		"git+ssh://example.com/a":      kindSSH,
		"git@example.com:a/b.git":      kindSSH,
		"example.com:a":                kindSSH,
		"[::1]:a":                      kindSSH,
		"[host:2222]:a":                kindSSH,
		"/srv/git/a.git":               kindPath,
		"../a.git":                     kindPath,
		"./a:b":                        kindPath,
		"/srv/a:b":                     kindPath,
		"file:///srv/a.git":            kindPath,
		"git://example.com/a":          kindOther,
		"ext::sh -c whatever":          kindOther,
		"codecommit::eu-west-1://repo": kindOther,
		"s3://bucket/a":                kindOther,
		"http::https://example.com/a":  kindOther,
	} {
		if got := classify(url); got != want {
			t.Errorf("classify(%q) = %d, want %d", url, got, want)
		}
	}
}
