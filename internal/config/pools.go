package config

import (
	"fmt"
	"strings"
)

// The limits of pools.
const (
	maxPoolName = 48
	maxSlots    = 1024
)

// Pool is a pool of the policy: a name that stands for any one of its slots.
type Pool struct {
	Name   string
	Slots  int
	Origin Origin
}

const (
	wantPool  = "a name of 1 to 48 letters, digits, dots, dashes and underscores"
	wantSlots = "a whole number of slots from 1 to 1024"
)

// takePools reads the section [pools]: NAME = SLOTS.
func (p *Policy) takePools(tree map[string]any, lines map[string]int) error {
	raw, ok := tree["pools"]
	if !ok {
		return nil
	}
	table, ok := raw.(map[string]any)
	if !ok {
		return &Error{Origin: policyOrigin(lines["pools"]), Key: "pools", Value: fmt.Sprint(raw), Want: "a table"}
	}
	for _, name := range sortedKeys(table) {
		key := "pools." + name
		origin := policyOrigin(lines[key])
		slots, ok := table[name].(int64)
		switch {
		case !isPoolName(name):
			return &Error{Origin: origin, Key: "pools", Value: name, Want: wantPool}
		case !ok || slots < 1 || slots > maxSlots:
			return &Error{Origin: origin, Key: key, Value: fmt.Sprint(table[name]), Want: wantSlots}
		}
		p.pools = append(p.pools, Pool{Name: name, Slots: int(slots), Origin: origin})
	}
	return nil
}

func isPoolName(s string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	}
	return s != "" && len(s) <= maxPoolName && !strings.ContainsFunc(s, odd)
}
