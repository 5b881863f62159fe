package lease

import (
	"strings"
)

// Covers says whether a path claim covers a file: its path, relative to the top of the repository and as git writes it, is the one that was claimed, or
// below it. As with [Overlap], case does not count. A star in the file's name is one; a resource that is no path covers none.
func Covers(r Resource, file string) bool {
	path, ok := r.pathOf()
	if !ok {
		return false
	}
	claimed, err := normalSegments(path)
	if err != nil {
		return false
	}
	segments := strings.Split(strings.ReplaceAll(file, `\`, "/"), "/")
	if len(segments) < len(claimed) {
		return false
	}
	for i, pattern := range claimed {
		if !fits([]rune(foldCase(pattern)), []rune(foldCase(segments[i]))) {
			return false
		}
	}
	return true
}

// fits says whether a segment matches a pattern, in which a star stands for any characters.
func fits(pattern, segment []rune) bool {
	matched := make([]bool, len(segment)+1) // of the pattern so far, the first j characters
	matched[0] = true
	for _, x := range pattern {
		before := matched[0]
		matched[0] = before && x == '*'
		for j, y := range segment {
			above := matched[j+1]
			if x == '*' {
				matched[j+1] = above || matched[j]
			} else {
				matched[j+1] = before && x == y
			}
			before = above
		}
	}
	return matched[len(segment)]
}
