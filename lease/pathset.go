package lease

import "strings"

// PathSet finds which of many path claims cover a file, by the rule of [Covers]. Its zero value is empty.
type PathSet struct {
	// plain are the claims without a star, by their path without regard to case. starred are the others.
	plain   map[string][]Resource
	starred []starredPath
}

type starredPath struct {
	resource Resource
	segments [][]rune
}

// Add adds a claim. What is no path, or can't be read as one, covers nothing.
func (s *PathSet) Add(r Resource) {
	path, ok := r.pathOf()
	if !ok {
		return
	}
	claimed, err := normalSegments(path)
	if err != nil {
		return
	}
	folded := foldCase(strings.Join(claimed, "/"))
	if strings.Contains(folded, "*") {
		star := starredPath{resource: r}
		for segment := range strings.SplitSeq(folded, "/") {
			star.segments = append(star.segments, []rune(segment))
		}
		s.starred = append(s.starred, star)
		return
	}
	if s.plain == nil {
		s.plain = map[string][]Resource{}
	}
	s.plain[folded] = append(s.plain[folded], r)
}

// Covering are the claims that cover a file, see [Covers].
func (s *PathSet) Covering(file string) []Resource {
	if len(s.plain)+len(s.starred) == 0 {
		return nil
	}
	folded := foldCase(strings.ReplaceAll(file, `\`, "/"))
	found := append([]Resource(nil), s.plain[""]...)
	for end := 0; end < len(folded); {
		next := strings.IndexByte(folded[end:], '/')
		if next < 0 {
			next = len(folded) - end
		}
		if end+next > 0 { // what covers everything is there already
			found = append(found, s.plain[folded[:end+next]]...)
		}
		end += next + 1
	}
	if len(s.starred) == 0 {
		return found
	}
	segments := strings.Split(folded, "/")
	for i := range s.starred {
		if s.starred[i].covers(segments) {
			found = append(found, s.starred[i].resource)
		}
	}
	return found
}

func (p *starredPath) covers(segments []string) bool {
	if len(segments) < len(p.segments) {
		return false
	}
	for i, pattern := range p.segments {
		if !fits(pattern, []rune(segments[i])) {
			return false
		}
	}
	return true
}
