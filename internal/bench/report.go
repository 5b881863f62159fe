package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// report is what was measured.
type report struct {
	Git    string  `json:"git"`
	Go     string  `json:"go"`
	OS     string  `json:"os"`
	CPUs   int     `json:"cpus"`
	Rounds int     `json:"rounds"`
	Values []value `json:"values"`
	// Verdicts are the bars whose values were measured.
	Verdicts []verdict `json:"verdicts"`
	// Missing says which contenders could not be measured, and why.
	Missing []string `json:"missing,omitempty"`
}

// value is one contender's.
type value struct {
	Group     string    `json:"group"`
	Contender string    `json:"contender"`
	Unit      unit      `json:"unit"`
	Median    float64   `json:"median"`
	Samples   []float64 `json:"samples"`
}

// verdict is a bar and what was measured.
type verdict struct {
	Group   string `json:"group"`
	Value   value  `json:"value"`
	Against *value `json:"against,omitempty"`
	// Result is the ratio of the two, or the value itself.
	Result float64 `json:"result"`
	// Limit is 0 for information.
	Limit float64 `json:"limit,omitempty"`
	Met   bool    `json:"met"`
}

func newReport(ctx context.Context, rounds int) *report {
	git, err := (&gitexec.Git{}).Output(ctx, "version")
	if err != nil {
		git = []byte("unknown")
	}
	return &report{Git: strings.TrimSpace(string(git)), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Rounds: rounds}
}

func (r *report) add(group, contender string, u unit, samples []float64) {
	r.Values = append(r.Values, value{group, contender, u, median(samples), samples})
}

func (r *report) times(group, contender string, samples []sample) {
	r.durations(group, contender, samples, func(s sample) time.Duration { return s.took })
}

func (r *report) durations(group, contender string, samples []sample, of func(sample) time.Duration) {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = float64(of(s).Microseconds()) / 1000
	}
	r.add(group, contender, milliseconds, values)
}

// differences are how much more it is than a baseline that was measured in the same rounds.
func (r *report) differences(group, contender string, samples, baseline []sample, of func(sample) time.Duration) {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = float64((of(s) - of(baseline[i])).Microseconds()) / 1000
	}
	r.add(group, contender, milliseconds, values)
}

func (r *report) memory(group, contender string, samples []sample) {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = float64(s.peak) / (1 << 20)
	}
	r.add(group, contender, mebibytes, values)
}

func (r *report) find(group, contender string) *value {
	for i := range r.Values {
		if r.Values[i].Group == group && r.Values[i].Contender == contender {
			return &r.Values[i]
		}
	}
	return nil
}

// judge compares what was measured with the bars.
func (r *report) judge() {
	r.Verdicts = nil
	for _, b := range bars() {
		measured := r.find(b.group, b.value)
		if measured == nil {
			continue
		}
		v := verdict{Group: b.group, Value: *measured, Result: measured.Median, Limit: b.limit}
		if b.against != "" {
			if v.Against = r.find(b.group, b.against); v.Against == nil || v.Against.Median == 0 {
				continue
			}
			v.Result = measured.Median / v.Against.Median
		}
		v.Met = b.limit == 0 || v.Result <= b.limit
		r.Verdicts = append(r.Verdicts, v)
	}
}

func (r *report) missed() bool {
	for _, v := range r.Verdicts {
		if !v.Met {
			return true
		}
	}
	return false
}

// print writes the medians and the verdicts.
func (r *report) print(w io.Writer, asJSON bool) error {
	r.judge()
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	fmt.Fprintf(w, "%s, %s, %s, %d CPUs, medians of %d rounds\n\n", r.Git, r.Go, r.OS, r.CPUs, r.Rounds)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range r.Values {
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.Group, v.Contender, v)
	}
	if len(r.Verdicts) > 0 {
		fmt.Fprintln(table, "\t\t")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	table = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range r.Verdicts {
		fmt.Fprintln(table, v)
	}
	for _, m := range r.Missing {
		fmt.Fprintln(table, m)
	}
	return table.Flush()
}

// String is the median with its unit.
func (v value) String() string {
	switch v.Unit {
	case bytesOnWire:
		return fmt.Sprintf("%.0f B", v.Median)
	case requests: // the name says what they are
		return strconv.FormatFloat(math.Round(v.Median*100)/100, 'f', -1, 64)
	default:
		return fmt.Sprintf("%.1f %s", v.Median, v.Unit)
	}
}

// String is a row of the table.
func (v verdict) String() string {
	what, result := v.Value.Contender, v.Value.String()
	if v.Against != nil {
		what, result = what+" / "+v.Against.Contender, fmt.Sprintf("%.2f", v.Result)
	}
	limit := ""
	switch {
	case v.Limit == 0:
	case v.Against != nil:
		limit = fmt.Sprintf("≤ %.2f", v.Limit)
	default:
		limit = "≤ " + value{Unit: v.Value.Unit, Median: v.Limit}.String()
	}
	word := "ok"
	switch {
	case v.Limit == 0:
		word = ""
	case !v.Met:
		word = "MISSED"
	}
	return strings.Join([]string{v.Group, what, result, limit, word}, "\t")
}
