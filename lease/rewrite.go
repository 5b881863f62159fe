package lease

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// member is one name and value of a JSON object, as written.
type member struct {
	name  string
	value json.RawMessage
}

// rewrite gives line, the encoding of a changed record, what raw, the record as it was read, has beyond it: members that are not
// known, and inside of known members that did not change whatever they hold. was is the encoding of the record as it was understood, and names are its members.
func rewrite(raw, was, line []byte, names []string) ([]byte, error) {
	old, err := split(raw)
	if err != nil {
		return nil, err
	}
	before, err := split(was)
	if err != nil {
		return nil, err
	}
	members, err := split(line)
	if err != nil {
		return nil, err
	}
	for i, m := range members {
		written, ok := find(old, m.name)
		if understood, same := find(before, m.name); ok && same && bytes.Equal(understood, m.value) {
			members[i].value = written
		}
	}
	for _, m := range old {
		if !known(names, m.name) {
			members = append(members, m)
		}
	}
	return join(members)
}

// split reads the members of a JSON object in their order.
func split(object []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var members []member
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{}
		m.name, _ = token.(string)
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		members = slices.DeleteFunc(members, func(o member) bool { return o.name == m.name })
		members = append(members, m)
	}
	return members, nil
}

func join(members []member) ([]byte, error) {
	var b bytes.Buffer
	for i, m := range members {
		name, err := marshal(m.name)
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func find(members []member, name string) (json.RawMessage, bool) {
	i := slices.IndexFunc(members, func(m member) bool { return m.name == name })
	if i < 0 {
		return nil, false
	}
	return members[i].value, true
}

// known says whether a member has one of names, by the rule of encoding/json, which does not mind capitals.
func known(names []string, name string) bool {
	return slices.ContainsFunc(names, func(k string) bool { return strings.EqualFold(k, name) })
}

func recordMembers() []string {
	return []string{
		"v", "kind", "authority", "resource", "claim", "members", "holder", "place", "purpose", "generation", "revision", "ttl_seconds",
		"grace_seconds", "takeover", "expiry", "claimed_at", "renewed_at", "state", "release", "predecessor", "checkpoint", "meta", "push", "key", "prev",
	}
}

func metaMembers() []string {
	return []string{"v", "kind", "authority", "format", "floor", "raises", "created_at", "key", "prev"}
}
