package gitexec

import "testing"

func TestFilePath(t *testing.T) {
	for url, want := range map[string]string{
		"file:///srv/a.git":     "/srv/a.git",
		"FILE:///srv/a.git":     "/srv/a.git",
		"file:///srv/a%20b":     "/srv/a b",
		"file:///srv/a%zz":      "/srv/a%zz",
		"file:///srv/a?b#c":     "/srv/a?b#c",
		"file://host/srv/a.git": "/srv/a.git",
		"file://%2fsrv/a.git":   "/srv/a.git",
		"file://host":           "host",
		"/srv/a%20b":            "/srv/a%20b",
		"../a.git":              "../a.git",
		"file:a":                "file:a",
	} {
		if got := FilePath(url); got != want {
			t.Errorf("FilePath(%q) = %q, want %q", url, got, want)
		}
	}
}
