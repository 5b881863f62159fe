package term

// Style is how a piece of text stands out. The zero value doesn't.
type Style int

// The styles.
const (
	Plain Style = iota
	Good
	Bad
	Warn
	Dim
	Bold
)

// Palette paints text, or leaves it alone. The zero value leaves it alone.
type Palette struct {
	// On says that the reader sees colours.
	On bool
}

// codes are the colours that git itself uses for such things.
var codes = [...]string{Plain: "", Good: "32", Bad: "31", Warn: "33", Dim: "2", Bold: "1"}

// Paint puts text in a style.
func (p Palette) Paint(s Style, text string) string {
	if !p.On || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + codes[s] + "m" + text + "\x1b[m"
}

// Colour decides as git does whether to paint: setting is color.worklease, or else color.ui; both default to "auto". An explicit "always" or "never" beats NO_COLOR.
func Colour(setting string, terminal bool, getenv func(string) string) bool {
	switch setting {
	case "always":
		return true
	case "never", "false", "off", "no", "0":
		return false
	}
	if getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	return terminal || getenv("GIT_PAGER_IN_USE") == "true" || getenv("GIT_PAGER_IN_USE") == "1"
}
