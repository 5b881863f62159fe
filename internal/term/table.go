package term

import (
	"strings"
	"unicode/utf8"
)

// Table is rows of cells that are printed in aligned columns, two blanks apart. Cells are printed as they are: clean them first.
type Table struct {
	rows [][]cell
}

type cell struct {
	text  string
	style Style
}

// Row adds a row of plain cells.
func (t *Table) Row(cells ...string) {
	row := make([]cell, len(cells))
	for i, text := range cells {
		row[i].text = text
	}
	t.rows = append(t.rows, row)
}

// Style gives a style to a cell of the last row.
func (t *Table) Style(column int, s Style) {
	t.rows[len(t.rows)-1][column].style = s
}

// String is the table; each row ends with a new line, none with blanks.
func (t *Table) String(p Palette) string {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		last := len(row) - 1
		for last >= 0 && row[last].text == "" {
			last--
		}
		for i, c := range row[:last+1] {
			b.WriteString(p.Paint(c.style, c.text))
			if i < last {
				b.WriteString(strings.Repeat(" ", widths[i]+2-utf8.RuneCountInString(c.text)))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
