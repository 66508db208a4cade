package evaluator

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// The evaluators.
const (
	NameElementwise     = "elementwise"
	NameLowBit          = "low_bit"
	NameSampling        = "sampling"
	NameSparseAttention = "dsa_sparse_attention"
	NameIndexer         = "dsa_topk_indexer"
	NameExternal        = "external" // a command of the user's
)

// Names are the evaluators that a user can name.
func Names() []string {
	return []string{NameElementwise, NameLowBit, NameSampling, NameSparseAttention, NameIndexer}
}

// table is which definitions have an evaluator of their own, as upstream's
// registry does. All others have NameElementwise.
var table = []struct {
	name    string
	matches func(flashinfer.Definition) bool
}{
	{NameSampling, func(d flashinfer.Definition) bool { return d.OpType == "sampling" }},
	{NameLowBit, func(d flashinfer.Definition) bool { return strings.Contains(d.Name, "moe_fp8_block_scale") }},
	{NameSparseAttention, func(d flashinfer.Definition) bool {
		rest, found := strings.CutPrefix(d.Name, "dsa_sparse_attention_h16_ckv512_kpe64_topk2048_")
		return found && (rest == "ps1" || rest == "ps64")
	}},
	{NameIndexer, func(d flashinfer.Definition) bool { return strings.HasPrefix(d.Name, "dsa_topk_indexer") }},
}

// For returns the name of the evaluator of a definition, or an error if two
// claim it.
func For(d flashinfer.Definition) (name string, err error) {
	for _, entry := range table {
		if !entry.matches(d) {
			continue
		}
		if name != "" {
			return "", fmt.Errorf("definition %q is for two evaluators, %s and %s: name one under evaluators", d.Name, name, entry.name)
		}
		name = entry.name
	}
	name = cmp.Or(name, NameElementwise)
	return name, nil
}

// Rule is the user's choice for the definitions whose name matches Glob, in the
// syntax of [path.Match]: either a name from above, or a command that uses
// [Protocol].
type Rule struct {
	Glob      string
	Evaluator string
	Command   []string
}

func (r Rule) valid() error {
	if _, err := path.Match(r.Glob, ""); err != nil || r.Glob == "" {
		return fmt.Errorf("evaluators: %q is not a pattern for names: write one such as \"gemm_*\"", r.Glob)
	}
	if len(r.Command) > 0 && r.Evaluator == "" {
		return nil
	}
	if len(r.Command) > 0 || !slices.Contains(Names(), r.Evaluator) {
		return fmt.Errorf("evaluators: %q has the evaluator %q: write one of %s, or a command instead", r.Glob, r.Evaluator,
			strings.Join(Names(), ", "))
	}
	return nil
}

// Choose is For with rules of the user, one of which overrides the table. Two
// that match are an error, as is any that is not valid. The second result is
// the command of NameExternal.
func Choose(d flashinfer.Definition, rules []Rule) (name string, command []string, err error) {
	var chosen *Rule
	for i, r := range rules {
		if err := r.valid(); err != nil {
			return "", nil, err
		}
		if match, _ := path.Match(r.Glob, d.Name); !match {
			continue
		}
		if chosen != nil {
			return "", nil, fmt.Errorf("evaluators: %q and %q both match definition %q: make one narrower", chosen.Glob, r.Glob, d.Name)
		}
		chosen = &rules[i]
	}
	switch {
	case chosen == nil:
		name, err = For(d)
		return name, nil, err
	case chosen.Evaluator != "":
		return chosen.Evaluator, nil, nil
	}
	return NameExternal, chosen.Command, nil
}
