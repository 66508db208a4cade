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

// listOfCells is in the id of a cell that stands for the cells of a suite that could not be listed.
const listOfCells = " (list of cells"

// ListOfCells stands for the cells of a suite that could not be listed, or of a shard of them.
func ListOfCells(suite, shard string) Cell {
	if shard != "" {
		shard = ", shard " + shard
	}
	return Cell{Suite: suite, Raw: suite + listOfCells + shard + ")"}
}

// IsListOfCells reports whether an id is one of [ListOfCells], which no command can measure.
func IsListOfCells(id string) bool { return strings.Contains(id, listOfCells) }

// Get returns the value of the parameter, or "" if the cell does not have it.
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
// into exactly the segments it was made of. The value of a cell that has one
// parameter is the id, as its harness or its author writes it; only what cannot be printed is escaped.
func (c Cell) ID() string {
	if c.Raw != "" {
		return c.Raw
	}
	if len(c.Params) == 1 {
		return c.join(func(value string) string { return escape(value, false) })
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

// Escape writes as %XX what would make an id ambiguous or unsafe: unprintable or
// invalid bytes, underscores that touch another underscore or an end of the value,
// and a "%" that would be read as an escape. Everything else stays as it is, so the
// ids of TensorSharp are unchanged.
func Escape(value string) string { return escape(value, true) }

func escape(value string, joined bool) string {
	if value == "" {
		return "%" // no escape is this short, so it cannot collide
	}
	if plain(value, joined) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); {
		r, size := utf8.DecodeRuneInString(value[i:])
		if escaped(value, i, r, size, joined) {
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
func plain(value string, joined bool) bool {
	for i := range len(value) {
		c := value[i]
		if c == '_' && escaped(value, i, '_', 1, joined) {
			return false
		}
		if c < ' ' || c >= 0x7f || c == '%' {
			return false
		}
	}
	return true
}

func escaped(value string, i int, r rune, size int, joined bool) bool {
	switch {
	case r == utf8.RuneError && size == 1:
		return true
	case r == '%':
		return value == "%" || joined && isEscape(value[i:])
	case r == '_':
		return joined && (i == 0 || i == len(value)-1 || value[i-1] == '_' || value[i+1] == '_')
	}
	return !unicode.IsPrint(r)
}

// isEscape reports whether s begins with %XX.
func isEscape(s string) bool { return len(s) > 2 && s[0] == '%' && isHex(s[1]) && isHex(s[2]) }

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f' }
