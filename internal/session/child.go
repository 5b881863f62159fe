package session

import "strings"

// IsAncestor says whether session a is above session b: "orch" is above "orch/7" and "orch/7/x". A session is not above itself.
func IsAncestor(a, b string) bool { return a != "" && strings.HasPrefix(b, a+"/") }
