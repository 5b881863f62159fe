package procgroup

import "sync"

// Words keeps the first 16 KiB of what a program says on stderr. It is safe for use by several goroutines.
type Words struct {
	mu   sync.Mutex
	text []byte
}

const maxWords = 16 << 10

// Write never fails.
func (w *Words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b[:min(len(b), maxWords-len(w.text))]...)
	return len(b), nil
}

func (w *Words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}
