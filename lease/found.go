package lease

// Found returns the ID of the authority. Where there is none yet and create is set, it makes one, unless [Options] name one that should be there or forbid it; "" says that there is
// none. Of several who make one at once all return the one that came first.
func (a *Authority) Found(ctx Context, create bool) (id string, made bool, err error) {
	for {
		meta, _, err := a.withMeta(ctx, a.refs.claims())
		switch {
		case err != nil:
			return "", false, err
		case meta != nil:
			return meta.Authority, made, nil
		case !create || !a.mayCreate():
			return "", false, nil
		case made: // and gone again
			return "", false, ErrAuthorityGone
		}
		if err := a.foundOnce(ctx); err != nil {
			return "", false, err
		}
		made = true
	}
}

func (a *Authority) foundOnce(ctx Context) error {
	ctx, cancel := a.attempt(ctx)
	defer cancel()
	return a.createMeta(ctx)
}
