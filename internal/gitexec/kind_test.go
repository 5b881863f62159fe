package gitexec

import "testing"

func TestKindOf(t *testing.T) {
	for url, want := range map[string]Kind{
		"https://example.com/a.git":    KindHTTP,
		"HTTP://example.com/a.git":     KindHTTP,
		"ssh://git@example.com/a":      KindSSH,
		"ssh://[::1]/a":                KindSSH,
		"git+ssh://example.com/a":      KindSSH,
		"git@example.com:a/b.git":      KindSSH,
		"example.com:a":                KindSSH,
		"[::1]:a":                      KindSSH,
		"[host:2222]:a":                KindSSH,
		"/srv/git/a.git":               KindPath,
		"../a.git":                     KindPath,
		"a":                            KindPath,
		"./a:b":                        KindPath,
		"./a::b":                       KindPath,
		"/srv/a:b":                     KindPath,
		"/srv/a://b":                   KindPath,
		"file:///srv/a.git":            KindFile,
		"FILE:///srv/a.git":            KindFile,
		"git://example.com/a":          KindGit,
		"ext::sh -c whatever":          KindHelper,
		"gcrypt::git@h:r":              KindHelper,
		"codecommit::eu-west-1://repo": KindHelper,
		"s3://bucket/a":                KindHelper,
		"http::https://example.com/a":  KindHelper,
	} {
		if got := KindOf(url); got != want {
			t.Errorf("KindOf(%q) = %d, want %d", url, got, want)
		}
	}
}
