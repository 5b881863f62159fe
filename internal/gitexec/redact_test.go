package gitexec

import "testing"

func TestRedact(t *testing.T) {
	for url, want := range map[string]string{
		"https://h/r":                "https://h/r",
		"https://u:p@h/r.git":        "https://h/r.git",
		"HTTPS://token@h:8443/r":     "HTTPS://h:8443/r",
		"https://u:p/x@h/r":          "https://u:p/x@h/r", // the host is u, as for git
		"https://u:p@q@h":            "https://h",
		"ssh://git@h/r":              "ssh://git@h/r",
		"ssh://git:secret@h:22/r":    "ssh://git@h:22/r",
		"git@h:r":                    "git@h:r",
		"/srv/a@b:c":                 "/srv/a@b:c",
		"codecommit::region://u:p@r": "codecommit::region://u@r",
		"":                           "",
	} {
		if got := Redact(url); got != want {
			t.Errorf("Redact(%q) = %q, want %q", url, got, want)
		}
	}
}
