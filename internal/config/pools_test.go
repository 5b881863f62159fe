package config

import (
	"errors"
	"strings"
	"testing"
)

func TestPools(t *testing.T) {
	p, err := ParsePolicy([]byte("version = 1\n[pools]\ngpu = 2\n\"big.box\" = 1024\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(Sources{Policy: p})
	if err != nil || len(s.Pools) != 2 || len(s.Unknown) != 0 {
		t.Fatalf("%+v, %v, %v", s.Pools, s.Unknown, err)
	}
	if gpu := s.Pools[1]; gpu.Name != "gpu" || gpu.Slots != 2 || gpu.Origin.String() != "policy .worklease.toml:3" {
		t.Errorf("%+v", gpu)
	}
	all := s.All()
	if last := all[len(all)-1]; last.Name != "pools.gpu" || last.Value != "2" {
		t.Errorf("%+v", last)
	}
}

func TestBadPools(t *testing.T) {
	for text, want := range map[string]string{
		"pools = 2":                                     `policy .worklease.toml:1: pools: "2": want a table`,
		"[pools]\ngpu = 0":                              `policy .worklease.toml:2: pools.gpu: "0": want a whole number`,
		"[pools]\ngpu = 1025":                           `pools.gpu: "1025": want`,
		"[pools]\ngpu = \"2\"":                          `pools.gpu: "2": want`,
		"[pools]\ngpu = 1.5":                            `pools.gpu: "1.5": want`,
		"[pools]\n\"a b\" = 1":                          `pools: "a b": want a name of 1 to 48`,
		"[pools]\n\"a#1\" = 1":                          `pools: "a#1": want a name`,
		"[pools.gpu]\nslots = 2":                        `pools.gpu: "map[slots:2]": want a whole number`,
		"[pools]\nx" + strings.Repeat("x", 48) + " = 1": `want a name of 1 to 48`,
	} {
		_, err := ParsePolicy([]byte(text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
