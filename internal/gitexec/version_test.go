package gitexec

import "testing"

func TestParseVersion(t *testing.T) {
	for out, want := range map[string]Version{
		"git version 2.39.5\n":               {2, 39},
		"git version 2.39.5 (Apple Git-154)": {2, 39},
		"git version 2.47.0.windows.1":       {2, 47},
		"git version 3.0":                    {3, 0},
		"git version 2.55.GIT":               {2, 55},
	} {
		if v, _, ok := ParseVersion(out); !ok || v != want {
			t.Errorf("%q: %v, %v", out, v, ok)
		}
	}
	for _, out := range []string{"", "git version unknown", "git version 2", "git version 2.-1", "git version +2.1"} {
		if _, _, ok := ParseVersion(out); ok {
			t.Errorf("%q was read", out)
		}
	}
	if !(Version{2, 30}).Before(Version{2, 31}) || (Version{3, 0}).Before(Version{2, 31}) {
		t.Error("versions are not compared")
	}
}
