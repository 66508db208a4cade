package flashinfer_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// constrained has the axes a (7), b (-1 is no size, so 0), n (4), and tensors.
func constrained(constraint string) *flashinfer.Definition {
	return &flashinfer.Definition{
		Name: "d", Constraints: []string{constraint},
		Axes:   []flashinfer.Axis{{Name: "a"}, {Name: "b"}, {Name: "n", Const: true, Value: 4}},
		Inputs: []flashinfer.Tensor{{Name: "t", Shape: []string{"a", "n"}}, {Name: "indptr", Shape: []string{"b"}}},
	}
}

func check(constraint string) error {
	return constrained(constraint).CheckConstraints(map[string]int{"a": 7, "b": 0, "n": 99}, map[string][]int{"t": {7, 4}, "indptr": {0}},
		func(name string) (int64, error) {
			if name != "indptr" {
				return 0, errors.New("there is none: read it")
			}
			return 12, nil
		})
}

func TestConstraints(t *testing.T) {
	t.Parallel()
	for constraint, want := range map[string]string{
		"a == 7": "", "n == 4": "", "a > b": "", "a >= 7": "", "b < a": "", "b <= 0": "", "a != n": "",
		"1 < n <= 4 < a": "", "1 < n < 4": "does not hold, because 4 < 4 is false: correct the workload",
		"a + 2 * n == 15": "", "(a + 2) * n == 36": "", "a - 3 - 2 == 2": "", "-a // 2 == -4": "", "-a % n == 1": "", "a % -n == -1": "",
		"a // n * n + a % n == a": "", "- - +a == 7": "", "t.shape[1] == n": "", "t.shape[-2] == a": "", "indptr[-1].item() == a + 5": "",
		"indptr . shape [ 0 ]==b": "", "a == 8": "does not hold, because 7 == 8 is false: correct the workload",
		"9223372036854775807 + a > 0":   "a number does not fit into 64 bits: make the workload's axes smaller",
		"-9223372036854775807 - a < 0":  "a number does not fit into 64 bits: make the workload's axes smaller",
		"4611686018427387904 * 2 > 0":   "a number does not fit into 64 bits: make the workload's axes smaller",
		"-4611686018427387904 * 2 < 0":  "",
		"9223372036854775808 > 0":       `column 1: want a whole number below 2^63, got "9223372036854775808": correct the constraint`,
		"a // b == 0":                   "divides by zero: correct the workload or the constraint",
		"a % b == 0":                    "divides by zero: correct the workload or the constraint",
		"c == 1":                        `"c" is none of the axes: correct the name`,
		"u.shape[0] == 1":               `"u" is not a tensor of the definition: correct the name`,
		"t.shape[2] == 1":               `"t" has 2 axes, so there is none with the index 2: correct the index`,
		"t.shape[-3] == 1":              `"t" has 2 axes, so there is none with the index -3: correct the index`,
		"t[-1].item() == 1":             `last element of "t": there is none: read it`,
		"a":                             "compares nothing: write a comparison, such as a == b",
		"":                              "column 1: want a number, a name or a parenthesis, got the end: correct the constraint",
		"a = 7":                         `column 3: "= 7" is not understood: use + - * // %, a comparison, T.shape[i] and T[-1].item()`,
		"a ** 2 == 49":                  `column 3: want a comparison or the end, got "**": correct the constraint`,
		"a == (7":                       `column 8: want ")", got the end: correct the constraint`,
		"a == 7)":                       `column 7: want a comparison or the end, got ")": correct the constraint`,
		"a == 07":                       `column 6: want a whole number below 2^63, got "07": correct the constraint`,
		"t[0].item() == 1":              `column 2: want T.shape[i] or T[-1].item(), the only properties of tensors, got "[": correct the constraint`,
		"len(t) == 1":                   `column 4: want T.shape[i] or T[-1].item(), the only properties of tensors, got "(": correct the constraint`,
		"t.shape[a] == 1":               `column 9: want the index of an axis, got "a": correct the constraint`,
		"t.shape[0 == 1":                `column 11: want "]", got "==": correct the constraint`,
		strings.Repeat("(", 200) + "a":  `column 101: want at most 100 parentheses and signs within each other, got "(": correct the constraint`,
		strings.Repeat("-", 200) + "a":  `column 101: want at most 100 parentheses and signs within each other, got "-": correct the constraint`,
		strings.Repeat(" ", 2000) + "a": "has more than 2000 bytes: split it into several",
	} {
		got := ""
		if err := check(constraint); err != nil {
			_, got, _ = strings.Cut(err.Error(), `: `)
		}
		if got != want {
			t.Errorf("%.60s: got %q, want %q", constraint, got, want)
		}
	}
}

func TestConstraintsWithoutElements(t *testing.T) {
	t.Parallel()
	d := constrained("indptr[-1].item() == 1")
	if err := d.CheckConstraints(map[string]int{"a": 7, "b": 1}, map[string][]int{"indptr": {1}}, nil); err != nil {
		t.Errorf("a constraint of unknown elements: %v", err)
	}
	if err := d.CheckConstraints(map[string]int{"a": 7}, nil, nil); err == nil || !strings.Contains(err.Error(), `does not give the axis "b"`) {
		t.Errorf("an axis is missing: %v", err)
	}
}

// TestArithmeticIsPythons holds the operators against math/big, at the edges of
// 64 bits too.
func TestArithmeticIsPythons(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	edges := []int64{0, 1, 2, 3, 7, math.MaxInt64, math.MaxInt64 - 1, 1 << 31, 1 << 32, 3037000500}
	number := func() int64 {
		n := edges[random.IntN(len(edges))]
		if random.IntN(2) == 0 {
			n = random.Int64() >> random.IntN(63)
		}
		return n * int64(1-2*random.IntN(2))
	}
	for range 5_000 {
		a, b := number(), number()
		operator := []string{"+", "-", "*", "//", "%"}[random.IntN(5)]
		want := exact(a, operator, b)
		err := check(fmt.Sprintf("(%d) %s (%d) == 0", a, operator, b))
		got := "overflow or zero"
		switch {
		case err == nil:
			got = "0"
		case strings.Contains(err.Error(), "because "):
			_, got, _ = strings.Cut(err.Error(), "because ")
			got, _, _ = strings.Cut(got, " ")
		}
		if got != want {
			t.Fatalf("%d %s %d = %s, want %s", a, operator, b, got, want)
		}
	}
}

func exact(a int64, operator string, b int64) string {
	x, y, z := big.NewInt(a), big.NewInt(b), new(big.Int)
	floor := func() (*big.Int, *big.Int) {
		q, m := new(big.Int).QuoRem(x, y, new(big.Int))
		if m.Sign() != 0 && m.Sign() != y.Sign() {
			q.Sub(q, big.NewInt(1))
			m.Add(m, y)
		}
		return q, m
	}
	switch {
	case operator == "+":
		z.Add(x, y)
	case operator == "-":
		z.Sub(x, y)
	case operator == "*":
		z.Mul(x, y)
	case b == 0:
		return "overflow or zero"
	case operator == "//":
		z, _ = floor()
	default:
		_, z = floor()
	}
	if !z.IsInt64() {
		return "overflow or zero"
	}
	return z.String()
}

func TestShapes(t *testing.T) {
	t.Parallel()
	d := &flashinfer.Definition{
		Name: "d", Axes: []flashinfer.Axis{{Name: "m"}, {Name: "n", Const: true, Value: 4}},
		Inputs:  []flashinfer.Tensor{{Name: "x", Shape: []string{"m", "n", "m"}}, {Name: "s", Scalar: true}, {Name: "one", Shape: []string{}}},
		Outputs: []flashinfer.Tensor{{Name: "y", Shape: []string{"n"}}},
	}
	shapes, err := d.Shapes(&flashinfer.Workload{Axes: map[string]int{"m": 3}})
	if err != nil || fmt.Sprint(shapes) != "map[one:[] s:[] x:[3 4 3] y:[4]]" || shapes["s"] != nil || shapes["one"] == nil {
		t.Errorf("got %v, %v", shapes, err)
	}
	for _, m := range []int{-1, 1 << 31} {
		if shapes, err := d.Shapes(&flashinfer.Workload{Axes: map[string]int{"m": m}}); err == nil {
			t.Errorf("m = %d: got %v, want an error", m, shapes)
		}
	}
}

func FuzzConstraint(f *testing.F) {
	for _, seed := range []string{"a == 7", "t.shape[-1] % n == 0", "indptr[-1].item() >= -(a // 2)", "a<b<=n!=1", "((((a", "a ** b", "9223372036854775807*2 > 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, constraint string) {
		if err := check(constraint); err != nil && strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("the message is not one plain line: %q", err)
		}
	})
}
