package beads

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// fast reads an issue in the form in which bd writes it: an object without blanks, whose values are texts, whole numbers, labels and dependencies. The JSON library
// takes several times as long. Whatever is unusual, even if it is valid, it leaves to the library, so that what it accepts means the same to both; a fuzz
// target compares them.
func fast(data []byte) (*record, bool) {
	s := &scan{data: data, text: string(data)}
	r := &record{}
	ok := s.object(func(key string) bool { return s.field(r, key) })
	return r, ok && s.at == len(data)
}

// scan is how far a line has been read. text is the same as data.
type scan struct {
	data []byte
	text string
	at   int
}

// field reads the value of an issue's field.
func (s *scan) field(r *record, key string) bool {
	switch key {
	case "_type":
		return s.string(&r.Type)
	case "id":
		return s.string(&r.ID)
	case "title":
		return s.string(&r.Title)
	case "status":
		return s.string(&r.Status)
	case "issue_type":
		return s.string(&r.IssueType)
	case "assignee":
		return s.string(&r.Assignee)
	case "created_at":
		return s.string(&r.CreatedAt)
	case "updated_at":
		return s.string(&r.UpdatedAt)
	case "defer_until":
		return s.string(&r.DeferUntil)
	case "description":
		return s.raw(&r.Description)
	case "design":
		return s.raw(&r.Design)
	case "acceptance_criteria":
		return s.raw(&r.AcceptanceCriteria)
	case "notes":
		return s.raw(&r.Notes)
	case "close_reason":
		return s.raw(&r.CloseReason)
	case "priority":
		return s.number(&r.Priority)
	case "dependency_count":
		return s.number(&r.DependencyCount)
	case "comment_count":
		return s.number(&r.CommentCount)
	case "labels":
		return s.labels(r)
	case "dependencies":
		return r.Links == nil && s.links(r)
	case "_schema", "pinned", "ephemeral", "is_template": // seldom there
		return false
	default:
		return s.other()
	}
}

func (s *scan) labels(r *record) bool {
	r.Labels = []string{}
	return s.list(func() bool {
		r.Labels = append(r.Labels, "")
		return s.string(&r.Labels[len(r.Labels)-1])
	})
}

func (s *scan) links(r *record) bool {
	r.Links = []link{}
	return s.list(func() bool {
		r.Links = append(r.Links, link{})
		l := &r.Links[len(r.Links)-1]
		return s.object(func(key string) bool {
			switch key {
			case "depends_on_id":
				return s.string(&l.DependsOn)
			case "type":
				return s.string(&l.Kind)
			case "metadata":
				return s.raw(&l.Metadata)
			case "id":
				return s.string(&l.ID)
			case "status":
				return s.string(&l.Status)
			case "dependency_type":
				return s.string(&l.ShownKind)
			default:
				return s.other()
			}
		})
	})
}

// object reads an object that is not empty, and has the values read by their keys.
func (s *scan) object(value func(key string) bool) bool {
	return s.inside('{', '}', func() bool {
		key, ok := s.key()
		return ok && value(key)
	})
}

// list reads a list, which may be empty.
func (s *scan) list(value func() bool) bool {
	if strings.HasPrefix(s.text[s.at:], "[]") {
		s.at += 2
		return true
	}
	return s.inside('[', ']', value)
}

func (s *scan) inside(begin, end byte, value func() bool) bool {
	if !s.take(begin) {
		return false
	}
	for value() {
		if s.take(end) {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
	return false
}

func (s *scan) take(c byte) bool {
	if s.at == len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// key reads a key of small letters and the colon. The library would take others in another case for one of these.
func (s *scan) key() (string, bool) {
	if !s.take('"') {
		return "", false
	}
	begin := s.at
	for s.at < len(s.text) && (s.text[s.at] >= 'a' && s.text[s.at] <= 'z' || s.text[s.at] == '_') {
		s.at++
	}
	key := s.text[begin:s.at]
	return key, s.take('"') && s.take(':')
}

// string reads a text in which nothing is escaped.
func (s *scan) string(to *string) bool {
	begin := s.at
	plain, ok := s.quoted()
	if !ok || !plain {
		return false
	}
	*to = s.text[begin+1 : s.at-1]
	return utf8.ValidString(*to)
}

// raw reads a text as it is written.
func (s *scan) raw(to *json.RawMessage) bool {
	begin := s.at
	_, ok := s.quoted()
	*to = s.data[begin:s.at:s.at]
	return ok
}

// quoted reads a text in quotes. plain says that nothing in it is escaped.
func (s *scan) quoted() (plain, ok bool) {
	if !s.take('"') {
		return false, false
	}
	plain = true
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return plain, true
		case c < ' ':
			return false, false
		case c == '\\':
			plain = false
			if s.at++; s.at == len(s.text) || !s.escape() {
				return false, false
			}
		}
		s.at++
	}
	return false, false
}

// escape reads what follows a backslash, but for its last byte.
func (s *scan) escape() bool {
	if s.text[s.at] != 'u' {
		return strings.IndexByte(`"\/bfnrt`, s.text[s.at]) >= 0
	}
	for range 4 {
		if s.at++; s.at == len(s.text) || strings.IndexByte("0123456789abcdefABCDEF", s.text[s.at]) < 0 {
			return false
		}
	}
	return true
}

// number reads a whole number that is not negative.
func (s *scan) number(to **int) bool {
	const digits = 9
	begin, n := s.at, 0
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' && s.at-begin < digits {
		n = 10*n + int(s.text[s.at]-'0')
		s.at++
	}
	*to = &n
	return s.at == begin+1 || s.at > begin && s.text[begin] != '0'
}

// other reads a value that is not wanted: a text, a number or a word.
func (s *scan) other() bool {
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s.text[s.at:], word) {
			s.at += len(word)
			return true
		}
	}
	if s.at < len(s.text) && s.text[s.at] == '"' {
		_, ok := s.quoted()
		return ok
	}
	var unwanted *int
	return s.number(&unwanted)
}
