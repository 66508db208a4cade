package detection

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/detect"
)

// classes are cells by their noise from run to run.
var classes = []struct {
	name string
	in   func(*Trial) bool
}{
	{"accelerators", func(t *Trial) bool { return t.Accelerator }},
	{"other hosts", func(t *Trial) bool { return !t.Accelerator }},
	{"quiet, noise < 0.75 %", func(t *Trial) bool { return t.Noise < 0.0075 }},
	{"medium, 0.75-2 %", func(t *Trial) bool { return t.Noise >= 0.0075 && t.Noise < 0.02 }},
	{"noisy, 2-5 %", func(t *Trial) bool { return t.Noise >= 0.02 && t.Noise < 0.05 }},
	{"very noisy, > 5 %", func(t *Trial) bool { return t.Noise >= 0.05 }},
}

var classEffects = []float64{0, 0.02, 0.03, 0.05, 0.10, 0.20}

// fine is the strict rule with the least effect that quiet cells may have.
func fine(t *Trial, effect float64) bool {
	return judge(t, effect, detect.Options{MinEffect: 0.01}) == detect.Regressed
}

// Classes prints the strict rule's rates by noise, and those of a least effect
// of 1 % in quiet cells.
func Classes(w io.Writer, sets []Set) {
	fmt.Fprint(w, "\n## REC-S strict by noise of the cell\n\n")
	header(w, "n, cells", classEffects)
	for _, n := range Ns {
		all := Trials(sets, n)
		for _, c := range classes {
			Rule{Alarm: strict}.Judge(n, only(all, c.in), classEffects).print(w, fmt.Sprintf("%d, %s", n, c.name))
		}
		quiet := only(all, classes[2].in)
		Rule{Alarm: fine}.Judge(n, quiet, classEffects).print(w, fmt.Sprintf("%d, quiet, least effect 1 %%", n))
	}
}

func only(trials []Trial, in func(*Trial) bool) []Trial {
	var out []Trial
	for i := range trials {
		if in(&trials[i]) {
			out = append(out, trials[i])
		}
	}
	return out
}
