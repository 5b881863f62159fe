package github

// ReadPages lets no more pages of a list be read.
func (p *Provider) ReadPages(n int) { p.pages = n }
