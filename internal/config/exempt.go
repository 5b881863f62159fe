package config

import (
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/glob"
)

// Exempts says whether no rule holds for a ref, as "refs/heads/main", or for one of the names of whoever changes it. Names are compared as
// they are; an empty one is nobody's.
func (e Enforce) Exempts(ref string, names ...string) bool {
	for _, one := range e.Exempt {
		if !strings.HasPrefix(one, refPrefix) {
			if slices.Contains(names, one) {
				return true
			}
			continue
		}
		pattern, err := glob.ParseBranch(one) // which was read before
		if err != nil {
			continue
		}
		if _, ok := pattern.Match(ref); ok {
			return true
		}
	}
	return false
}

const refPrefix = "refs/"

func allExempt(list []string) bool {
	return !slices.ContainsFunc(list, func(one string) bool {
		if !strings.HasPrefix(one, refPrefix) {
			return !ValidName(one)
		}
		_, err := glob.ParseBranch(one)
		return err != nil
	})
}
