package bench

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EnvPrefix marks a parameter that sets an environment variable of the child.
const EnvPrefix = "env."

// Param is one coordinate of a cell: "backend"="cuda",
// "env.KV_CACHE_DTYPE"="q8_0".
type Param struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Cell is one point of a matrix. Its identity is its parameters in axis order;
// the suite's name is not part of it, so that baselines exchanged with
// TensorSharp keep their ids.
type Cell struct {
	Suite  string  `json:"suite,omitempty"`
	Params []Param `json:"params,omitempty"`
	// Raw is the id itself where the parameters are not known, as in a
	// baseline file, which keeps ids only. It wins over Params.
	Raw string `json:"id,omitempty"`
}

// Get returns the value of the parameter, or "" if the cell has none.
func (c Cell) Get(key string) string {
	for _, p := range c.Params {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// ID joins the parameters' values with "__", unless Raw gives the id. An environment parameter is
// written NAME=VALUE. Values are escaped with [Escape], so an id splits back
// into exactly the segments it was made of.
func (c Cell) ID() string {
	if c.Raw != "" {
		return c.Raw
	}
	return c.join(Escape)
}

// TensorSharpID joins the parameters' values as TensorSharp.TestMatrix does,
// without escapes: an id of values that hold "__" may be read in several ways.
func (c Cell) TensorSharpID() string { return c.join(func(value string) string { return value }) }

func (c Cell) join(write func(value string) string) string {
	var b strings.Builder
	for i, p := range c.Params {
		if i > 0 {
			b.WriteString("__")
		}
		value := p.Value
		if name, ok := strings.CutPrefix(p.Key, EnvPrefix); ok {
			value = name + "=" + value
		}
		b.WriteString(write(value))
	}
	return b.String()
}

// Reading names the parameters of the cell, for messages about an id that may
// be read in several ways: "model=my__llama, backend=cpu".
func (c Cell) Reading() string {
	parts := make([]string, 0, len(c.Params))
	for _, p := range c.Params {
		parts = append(parts, strings.TrimPrefix(p.Key, EnvPrefix)+"="+p.Value)
	}
	return strings.Join(parts, ", ")
}

// Escape writes as %XX what would make an id ambiguous or unsafe: "%", path
// separators, unprintable or invalid bytes, and underscores that touch another
// underscore or an end of the value. Everything else stays as it is, so the
// ids of TensorSharp are unchanged.
func Escape(value string) string {
	if value == "" {
		return "%" // no escape is this short, so it cannot collide
	}
	if plain(value) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); {
		r, size := utf8.DecodeRuneInString(value[i:])
		if escaped(value, i, r, size) {
			for _, c := range []byte(value[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(value[i : i+size])
		}
		i += size
	}
	return b.String()
}

// plain reports whether value needs no escaping. It exists because nearly
// every value is plain and ids are built for each of 100,000 cells.
func plain(value string) bool {
	for i := range len(value) {
		c := value[i]
		if c == '_' && escaped(value, i, '_', 1) {
			return false
		}
		if c <= ' ' && c != ' ' || c >= 0x7f || c == '%' || c == '/' || c == '\\' {
			return false
		}
	}
	return true
}

func escaped(value string, i int, r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size == 1:
		return true
	case r == '%' || r == '/' || r == '\\':
		return true
	case r == '_':
		return i == 0 || i == len(value)-1 || value[i-1] == '_' || value[i+1] == '_'
	}
	return !unicode.IsPrint(r)
}
