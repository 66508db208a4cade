package history

import (
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

func write(w io.Writer, columns int, all []Series, runs int) error {
	t := terminal.NewTable(w, columns)
	changed := levels(t, all)
	fmt.Fprintf(t, "%s of %d series: %s changed for good\n", text.Plural(runs, "run"), len(all), text.Plural(changed, "level"))
	if newest(t, all) == 0 {
		fmt.Fprintln(t, "newest runs: none is slower than those before it, as far as its noise lets be seen")
	} else {
		fmt.Fprintln(t, "\nNext: measure suspects again, and see what came between with git log AFTER..BEFORE")
	}
	return t.Flush()
}

// levels writes a row for each change, and returns how many there are.
func levels(w io.Writer, all []Series) (n int) {
	row := func(s *Series, format string, args ...any) {
		if n++; n == 1 {
			fmt.Fprintf(w, "host\tcell\tmetric\tchange\tp\tbetween\n")
		}
		fmt.Fprintf(w, s.name()+"\t"+format+"\n", args...)
	}
	for i := range all {
		s := &all[i]
		for _, l := range s.Changes {
			row(s, "%s\t%.1g\t%s and %s", l, l.P, measure.ShortRevision(l.After), measure.ShortRevision(l.Before))
		}
		if s.Drift != nil {
			row(s, "%s\tdrift\tsince %s", s.Drift, measure.ShortRevision(s.Drift.Since))
		}
	}
	return n
}

// newest writes a row for each series whose last value is slower, or may be, and
// returns how many there are.
func newest(w io.Writer, all []Series) (n int) {
	for i := range all {
		s, e := &all[i], all[i].Newest
		if e.Verdict != detect.Regressed && e.Verdict != detect.Suspect {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintf(w, "\nnewest run of\tcell\tmetric\tchange\t95 %%\tp\tverdict\n")
		}
		fmt.Fprintf(w, s.name()+"\t%s\t%+.1f … %+.1f\t%.1g\t%s\n", e, 100*e.Interval[0], 100*e.Interval[1], e.P, e.Verdict)
	}
	return n
}

// name is that of a series, in columns, fit to print and to be a format.
func (s *Series) name() string {
	return strings.ReplaceAll(text.OneLine(s.Host)+"\t"+text.OneLine(s.Cell)+"\t"+text.OneLine(s.Metric), "%", "%%")
}
