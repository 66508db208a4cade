package flashinfer_test

import (
	"fmt"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

func signature(reference string) string {
	d := flashinfer.Definition{Reference: reference}
	s, ok := d.Signature()
	if !ok {
		return "none"
	}
	return fmt.Sprintf("%d %q %d %q %v", s.Line, s.Positional, s.Optional, s.KeywordOnly, s.Variadic)
}

func TestSignature(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]string{
		"def run(): pass":                       `1 [] 0 [] false`,
		"def run(a, b): pass":                   `1 ["a" "b"] 0 [] false`,
		"def  run \t( a ,b , ) : pass":          `1 ["a" "b"] 0 [] false`,
		"import x\r\n\r\ndef run(a):\r\n\tpass": `3 ["a"] 0 [] false`,
		"def run(\n    a: torch.Tensor,  # the first, or (so\n    b: Dict[str, int] = {\"x\": (1, 2)},\n    c=f(1, [2, 3]),\n):\n    pass": `1 ["a" "b" "c"] 2 [] false`,
		"def run(a, /, b=1, *, c, d=2, **rest): pass":                   `1 ["a" "b"] 1 ["c" "d"] false`,
		"def run(a, *args, c): pass":                                    `1 ["a"] 0 ["c"] true`,
		"def run(a, f=lambda x, y=(1, 2): x, b: int = 3): pass":         `1 ["a" "f" "b"] 2 [] false`,
		"def run(a, f=lambda: 0, lambda_=1): pass":                      `1 ["a" "f" "lambda_"] 2 [] false`,
		"def run(a: 'x, y' = \"),\", b=\"\\\"),\"): pass":               `1 ["a" "b"] 2 [] false`,
		"def run[T: (int, str)](a: T): pass":                            `1 ["a"] 0 [] false`,
		"@torch.no_grad()\ndef run(a): pass":                            `2 ["a"] 0 [] false`,
		"def run(a): pass\ndef run(b): pass":                            `2 ["b"] 0 [] false`,
		"\"\"\"\ndef run(wrong): pass\n\"\"\"\ndef run(a): pass":        `4 ["a"] 0 [] false`,
		"x = '''\ndef run(wrong): pass\n''' ; y = r'\\'\ndef run(a): 0": `4 ["a"] 0 [] false`,
		"# it's\ndef run(a): 0":                                         `2 ["a"] 0 [] false`,
		"x = 'unfinished\ndef run(a): 0":                                `2 ["a"] 0 [] false`,
		"x = f(\ndef run(wrong): pass\n)\ndef run(a): 0":                `4 ["a"] 0 [] false`,
		"x = 1 + \\\ndef run(wrong): pass\ndef run(a): 0":               `3 ["a"] 0 [] false`,
		"class A:\n    def run(self): pass":                             "none",
		"async def run(a): pass":                                        "none",
		"def runner(a): pass":                                           "none",
		"define run(a)":                                                 "none",
		"defrun(a)":                                                     "none",
		"run = lambda a: a":                                             "none",
		"def run(a":                                                     "none",
		"def run(a\n\"\"\"":                                             "none",
		"def run":                                                       "none",
		"":                                                              "none",
	} {
		if got := signature(reference); got != want {
			t.Errorf("%q: got %s, want %s", reference, got, want)
		}
	}
}

func FuzzSignature(f *testing.F) {
	for _, seed := range []string{"def run(a, b=1):", "\"\"\"x\"\"\"\ndef run(*a):", "def run(\\", "def run[", "def run(x='", "(\n)def run()", "def run(a=lambda"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		d := flashinfer.Definition{Reference: reference}
		if s, ok := d.Signature(); ok && (s.Optional > len(s.Positional) || s.Line < 1) {
			t.Errorf("%+v", s)
		}
	})
}
