package refstore

import (
	"runtime"
	"sync"
)

// judgeAll decodes and checks objects, on all processors: a signature takes longer to verify than a record to read.
func (s *store) judgeAll(objects []Object) []verdict {
	verdicts := make([]verdict, len(objects))
	format := s.format()
	workers := min(runtime.GOMAXPROCS(0), len(objects)/16+1)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(objects); i += workers {
				verdicts[i] = s.judgeOne(format, objects[i])
			}
		})
	}
	group.Wait()
	return verdicts
}

func (s *store) judgeOne(format Format, o Object) verdict {
	c, err := DecodeCommit(format, o.OID, o.Content)
	if err == nil {
		err = s.o.Check(c)
	}
	return verdict{commit: c, err: err}
}
