// Report prints the rows of a proof as one table, and fails where a promise was broken.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/git-worklease/git-worklease/internal/proof/tally"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: report FILE")
		os.Exit(1) //nolint:forbidigo // a program of its own
	}
	sum, err := report(os.Args[1], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1) //nolint:forbidigo // as above
	}
	if sum.Operations == 0 || sum.Violations > 0 {
		os.Exit(1) //nolint:forbidigo // as above
	}
}

// report prints the rows of a file, one for each part, server and fault, and returns their sum.
func report(path string, to io.Writer) (sum tally.Row, err error) {
	rows, err := read(path)
	if err != nil {
		return tally.Row{}, err
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := fmt.Fprintln(w, "part\tserver\tfault\toperations\tfaults\tunknown\tnoticed\tviolations\t"); err != nil {
		return tally.Row{}, err
	}
	sum = tally.Row{Part: "all"}
	for _, r := range rows {
		sum.Add(r)
		line(w, r)
	}
	line(w, sum)
	return sum, w.Flush()
}

func line(w io.Writer, r tally.Row) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n", r.Part, r.Server, r.Fault, r.Operations, r.Faults, r.Unknown, r.Noticed, r.Violations)
}

// read merges the rows of a file that are of the same part, server and fault, and sorts them.
func read(path string) ([]tally.Row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	merged := map[string]*tally.Row{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r tally.Row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		key := strings.Join([]string{r.Part, r.Server, r.Fault}, "\x00")
		if merged[key] == nil {
			merged[key] = &tally.Row{Part: r.Part, Server: r.Server, Fault: r.Fault}
		}
		merged[key].Add(r)
	}
	var rows []tally.Row
	for _, r := range merged {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b tally.Row) int {
		return strings.Compare(strings.Join([]string{a.Part, a.Server, a.Fault}, "\x00"), strings.Join([]string{b.Part, b.Server, b.Fault}, "\x00"))
	})
	return rows, nil
}
