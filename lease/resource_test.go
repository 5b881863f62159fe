package lease

import (
	"errors"
	"strings"
	"testing"
)

func TestParseResource(t *testing.T) {
	tests := []struct {
		key    string
		want   error
		scheme string
	}{
		{"task:demo", nil, ""},
		{"github:acme/app#42", nil, ""},
		{"x-y.z+1:~@{..}.lock ^", nil, ""},
		{"task:a b", nil, ""},
		{"task:" + strings.Repeat("x", 1019), nil, ""},
		{"task:" + strings.Repeat("x", 1020), ErrBadResource, ""},
		{"", ErrBadResource, ""},
		{" task:a", ErrBadResource, ""},
		{"task:a\u00a0", ErrBadResource, ""},
		{"task:a\n", ErrBadResource, ""},
		{"task:\x1b[2J", ErrBadResource, ""},
		{"task:\u0085x", ErrBadResource, ""},
		{"task:\xff", ErrBadResource, ""},
		{"42", ErrScheme, ""},
		{"#42", ErrScheme, ""},
		{"task:", ErrScheme, ""},
		{":x", ErrScheme, ""},
		{"Task:x", ErrScheme, ""},
		{`C:\x`, ErrScheme, ""},
		{`c:\x`, ErrScheme, ""},
		{"path:src", nil, ""},
		{"path:", ErrScheme, ""},
		{"path:/src", ErrBadPath, ""},
		{"path://src", ErrScheme, "path"},
		{"pool:gpu", nil, ""},
		{"pool:gpu#1", nil, ""},
		{"pool:gpu#1024", nil, ""},
		{"pool:gpu#1025", ErrBadResource, ""},
		{"pool:gpu#0", ErrBadResource, ""},
		{"pool:gpu#01", ErrBadResource, ""},
		{"pool:gpu#", ErrBadResource, ""},
		{"pool:gpu#1#2", ErrBadResource, ""},
		{"pool:#1", ErrBadResource, ""},
		{"https://example.com/1", ErrScheme, "https"},
		{"file:///etc/passwd", ErrScheme, "file"},
		{"file:CHANGELOG.md", nil, ""},
		{"ssh:build-host", nil, ""},
	}
	for _, tt := range tests {
		r, err := ParseResource(tt.key)
		if !errors.Is(err, tt.want) || err == nil && string(r) != tt.key {
			t.Errorf("%q: %q, %v, want %v", tt.key, r, err, tt.want)
		}
		var scheme *SchemeError
		if errors.As(err, &scheme) && (scheme.Scheme != tt.scheme || scheme.Key != tt.key) {
			t.Errorf("%q: %+v", tt.key, scheme)
		}
	}
}
