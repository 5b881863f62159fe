package beads

import (
	"fmt"

	"github.com/git-worklease/git-worklease/providers"
)

// maxTroubles is how many troubles are told one by one.
const maxTroubles = 100

// troubles are what could not be read. A nil one has none.
type troubles struct {
	told []error
	more int
}

func (t *troubles) add(where string, line int, err error) {
	if len(t.told) == maxTroubles {
		t.more++
		return
	}
	t.told = append(t.told, &providers.BrokenError{Where: where, Line: line, Err: err})
}

func (t *troubles) count() int {
	if t == nil {
		return 0
	}
	return len(t.told) + t.more
}

func (t *troubles) first() error { return t.told[0] }

func (t *troubles) list() []error {
	if t == nil || t.more == 0 {
		return t.all()
	}
	return append(t.all(), fmt.Errorf("%d more like those: %w", t.more, providers.ErrBroken))
}

func (t *troubles) all() []error {
	if t == nil {
		return nil
	}
	return t.told[:len(t.told):len(t.told)]
}
