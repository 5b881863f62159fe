package gitwire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// MaxRefs bounds the refs that are kept of an advertisement or a listing.
const MaxRefs = 1_000_000

// Advert is what a server says before it is asked anything.
type Advert struct {
	// Version is the protocol's: 2, or 0 for both 0 and 1, which differ in nothing else.
	Version int
	// Agent is the server's name for itself.
	Agent string
	// Format is the repository's object format.
	Format refstore.Format
	// LsRefs and Fetch say that a server of version 2 has these commands.
	LsRefs, Fetch bool
	// Atomic says that receive-pack applies several refs all or none.
	Atomic bool
	// Refs are the advertised refs under the wanted prefixes; nil in version 2.
	Refs map[string]refstore.OID

	caps []string
}

// ReadAdvert reads the advertisement of upload-pack or receive-pack in any version, with or without the line that names the
// service over HTTP. Of the refs it keeps those whose names start with any of prefixes.
func ReadAdvert(r *Reader, prefixes []string) (*Advert, error) {
	kind, text, err := r.line()
	if err == nil && strings.HasPrefix(text, "# service=") {
		if kind, _, err = r.Next(); err == nil && kind != Flush {
			err = malformed("no flush after the service's name")
		}
		if err == nil {
			kind, text, err = r.line()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("advertisement: %w", err)
	}
	a := &Advert{Format: refstore.SHA1}
	if kind == Data && text == "version 2" {
		err = a.readV2(r)
	} else {
		err = a.readV0(r, kind, text, prefixes)
	}
	if err != nil {
		return nil, fmt.Errorf("advertisement: %w", err)
	}
	return a, nil
}

func (a *Advert) readV2(r *Reader) error {
	a.Version = 2
	for {
		kind, text, err := r.line()
		switch {
		case err != nil:
			return err
		case kind == Flush:
			a.readCaps()
			return nil
		case kind != Data:
			return malformed("a section in the capabilities")
		}
		a.caps = append(a.caps, text)
	}
}

// readV0 starts with the packet that was read already.
func (a *Advert) readV0(r *Reader, kind Kind, text string, prefixes []string) error {
	a.Refs = make(map[string]refstore.OID)
	if kind == Data && text == "version 1" {
		var err error
		if kind, text, err = r.line(); err != nil {
			return err
		}
	}
	for first := true; kind == Data; first = false {
		if first {
			var caps string
			text, caps, _ = strings.Cut(text, "\x00")
			a.caps = strings.Fields(caps)
			a.readCaps()
		}
		if err := a.keep(text, prefixes); err != nil {
			return err
		}
		var err error
		if kind, text, err = r.line(); err != nil {
			return err
		}
	}
	if kind != Flush {
		return malformed("a section in the refs")
	}
	return nil
}

// keep takes a line "OID NAME", or one that says where a shallow repository ends.
func (a *Advert) keep(text string, prefixes []string) error {
	id, name, ok := strings.Cut(text, " ")
	if ok && id == "shallow" {
		return nil
	}
	oid, err := refstore.ParseTip(id)
	if err != nil || !ok {
		return malformed("%.80q where a ref should be", text)
	}
	if strings.HasSuffix(name, "^{}") || !hasAnyPrefix(name, prefixes) {
		return nil
	}
	if len(a.Refs) >= MaxRefs {
		return fmt.Errorf("%w: over %d refs", ErrTooLarge, MaxRefs)
	}
	a.Refs[name] = oid
	return nil
}

// readCaps reads the capabilities of either version.
func (a *Advert) readCaps() {
	for _, c := range a.caps {
		name, value, _ := strings.Cut(c, "=")
		switch name {
		case "agent":
			a.Agent = value
		case "object-format":
			a.Format = refstore.Format(value)
		case "ls-refs":
			a.LsRefs = true
		case "fetch":
			a.Fetch = true
		case "atomic":
			a.Atomic = true
		}
	}
}

func (a *Advert) has(capability string) bool { return slices.Contains(a.caps, capability) }

func hasAnyPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Prefixes are the folders of the refs of tx, each with its slash: what of an advertisement concerns tx, and all that [refstore.Tx.Contradicts] needs.
func Prefixes(tx *refstore.Tx) []string {
	var dirs []string
	for _, u := range tx.Updates {
		dir := u.Ref[:strings.LastIndexByte(u.Ref, '/')+1]
		if dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
