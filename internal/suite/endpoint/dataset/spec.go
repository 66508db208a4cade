package dataset

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text"
)

// Kind is where prompts come from.
type Kind string

// The kinds of datasets.
const (
	Builtin      Kind = "builtin"       // Set names which
	Random       Kind = "random"        // words without meaning, by Input
	Lognormal    Kind = "lognormal"     // random, with lognormal lengths
	SharedPrefix Kind = "shared-prefix" // Groups of prompts that begin alike
	JSONL        Kind = "jsonl"         // a file of prompts or conversations
	ShareGPT     Kind = "sharegpt"      // a file of ShareGPT's conversations: the first question of each
	Trace        Kind = "trace"         // a file of arrival times and lengths
)

// The built-in sets.
const (
	ChatSet    = "chat"         // 10 short questions
	CodeSet    = "code"         // 10 beginnings of source files
	RAGSet     = "rag"          // a question about a document of 2048 words
	ContextSet = "long-context" // the same with 8192 words
)

// Format is whose form a trace has.
type Format string

// The formats of traces.
const (
	Mooncake Format = "mooncake" // a JSON object on each line
	Azure    Format = "azure"    // CSV: TIMESTAMP,ContextTokens,GeneratedTokens with dates
	BurstGPT Format = "burstgpt" // CSV: Timestamp,...,Request tokens,Response tokens with seconds
)

// The limits of a dataset. A generated prompt of MaxWords words stays below
// MaxPromptBytes.
const (
	MaxPrompts     = 1_000_000
	MaxPromptBytes = 1 << 20
	MaxWords       = 1 << 17
	MaxOutput      = 1 << 20 // tokens of one answer
	maxFileBytes   = 2 << 30
	maxTextBytes   = 1 << 30 // of all prompts of a file
	maxTotalWords  = 1 << 28 // of all generated prompts
)

// Spec describes a dataset. Fields that its kind does not have must be zero.
type Spec struct {
	Kind Kind   `yaml:"kind" json:"kind"`
	Set  string `yaml:"set" json:"set,omitempty"`   // builtin: chat (default), code, rag or long-context
	Path string `yaml:"path" json:"path,omitempty"` // jsonl, sharegpt, trace: the file
	// N is how many prompts the dataset has: of a file the first N that hold
	// one. 0 is all of a file or of the sets chat and code, 16 for each group of
	// shared-prefix, and otherwise 200. A source that holds fewer is an error.
	N int `yaml:"n" json:"n,omitempty"`
	// Seed decides every generated text and length. It is not negative.
	Seed int64 `yaml:"seed" json:"seed,omitempty"`
	// Input is the length of generated prompts, in words: all of a random one,
	// what follows the prefix of shared-prefix, the document of rag and
	// long-context.
	Input Lengths `yaml:"input" json:"input,omitzero"`
	// Unit is what Input and Prefix count; "" is words.
	Unit Unit `yaml:"length_unit" json:"length_unit,omitempty"`
	// Output is the length of answers, in tokens; of jsonl's where a line has
	// none. Without it the request's default counts.
	Output Lengths `yaml:"output" json:"output,omitzero"`
	// Groups is how many prefixes shared-prefix has, or documents rag and
	// long-context; 0 gives each prompt of those a document of its own. Prompt i
	// is of group i modulo Groups, so that a prefix returns after all others.
	Groups int `yaml:"groups" json:"groups,omitempty"`
	Prefix int `yaml:"prefix" json:"prefix,omitempty"` // shared-prefix: words that a group shares
	// Block is how many tokens each of a trace's hash_ids stands for; 0 is
	// Mooncake's 512.
	Block    int    `yaml:"block" json:"block,omitempty"`
	TimeUnit string `yaml:"time_unit" json:"time_unit,omitempty"` // mooncake: ms or s, of timestamp
	Format   Format `yaml:"format" json:"format,omitempty"`       // trace: mooncake (default), azure or burstgpt
	// AnswerLengths takes the words of a ShareGPT conversation's first answer for
	// its output length.
	AnswerLengths bool `yaml:"answer_lengths" json:"answer_lengths,omitempty"`
	// Conversation makes each prompt the first question of a conversation.
	Conversation Conversation `yaml:"conversation" json:"conversation,omitzero"`
}

// The default numbers of prompts.
const (
	defaultN        = 200
	defaultPerGroup = 16 // as SGLang's generated-shared-prefix
	defaultBlock    = 512
)

// Validate returns the first thing that is wrong with s, and how to correct
// it. It reads no file.
func (s Spec) Validate() error {
	kinds := []Kind{Builtin, Random, Lognormal, SharedPrefix, JSONL, ShareGPT, Trace}
	switch {
	case s.Kind == "":
		return fmt.Errorf("kind: is missing: write one of %s", list(kinds))
	case !slices.Contains(kinds, s.Kind):
		return unknown("kind", string(s.Kind), kinds...)
	}
	if err := s.foreign(); err != nil {
		return err
	}
	if err := firstOf(s.numbers()...); err != nil {
		return err
	}
	given := s
	s = s.withDefaults()
	return firstOf(s.checkSource(given), s.checkInput(), s.checkOutput(), s.checkConversation(), s.checkUnit())
}

// foreign complains about a field that is set and not of the kind.
func (s Spec) foreign() error {
	generated := []Kind{Random, Lognormal, SharedPrefix}
	documents := s.Kind == Builtin && (s.Set == RAGSet || s.Set == ContextSet)
	for _, f := range []struct {
		name  string
		set   bool
		kinds []Kind
		also  bool
	}{
		{"set", s.Set != "", []Kind{Builtin}, false},
		{"path", s.Path != "", []Kind{JSONL, ShareGPT, Trace}, false},
		{"input", !s.Input.isZero(), generated, documents},
		{"groups", s.Groups != 0, []Kind{SharedPrefix}, documents},
		{"prefix", s.Prefix != 0, []Kind{SharedPrefix}, false},
		{"output", !s.Output.isZero(), append(generated, Builtin, JSONL, ShareGPT), false},
		{"block", s.Block != 0, []Kind{Trace}, false},
		{"format", s.Format != "", []Kind{Trace}, false},
		{"time_unit", s.TimeUnit != "", []Kind{Trace}, false},
		{"answer_lengths", s.AnswerLengths, []Kind{ShareGPT}, false},
	} {
		if f.set && !slices.Contains(f.kinds, s.Kind) && !f.also {
			return fmt.Errorf("%s: does not apply to kind %s but to %s: remove it or change the kind", f.name, s.describe(), list(f.kinds))
		}
	}
	return nil
}

func (s Spec) describe() string {
	if s.Kind != Builtin {
		return string(s.Kind)
	}
	return fmt.Sprintf("builtin with set %.40q", s.withDefaults().Set)
}

func (s Spec) numbers() (errs []error) {
	for _, f := range []struct {
		name string
		got  int
		high int
	}{{"n", s.N, MaxPrompts}, {"groups", s.Groups, MaxPrompts}, {"prefix", s.Prefix, MaxWords}, {"block", s.Block, MaxWords}} {
		if f.got < 0 || f.got > f.high {
			errs = append(errs, fmt.Errorf("%s: %d is out of range: write a number from 0 to %d", f.name, f.got, f.high))
		}
	}
	if s.Seed < 0 {
		errs = append(errs, fmt.Errorf("seed: %d is negative: write a number from 0", s.Seed))
	}
	return errs
}

// withDefaults fills in what a kind decides itself, but for n of files.
func (s Spec) withDefaults() Spec {
	if s.Kind == Builtin && s.Set == "" {
		s.Set = ChatSet
	}
	if s.Kind == Builtin && s.Input.isZero() {
		switch s.Set {
		case RAGSet:
			s.Input = Lengths{Dist: Fixed, Value: 2048}
		case ContextSet:
			s.Input = Lengths{Dist: Fixed, Value: 8192}
		}
	}
	if s.Kind == Lognormal {
		for _, l := range []*Lengths{&s.Input, &s.Output} {
			if !l.isZero() && l.Dist == "" {
				l.Dist = LogNormal
			}
		}
	}
	if s.Kind == Trace && s.Format == "" {
		s.Format = Mooncake
	}
	if s.Kind == Trace && s.Block == 0 {
		s.Block = defaultBlock
	}
	if s.N == 0 {
		s.N = s.defaultN()
	}
	return s
}

func (s Spec) defaultN() int {
	switch {
	case s.Kind == SharedPrefix:
		return min(s.Groups*defaultPerGroup, MaxPrompts)
	case s.Kind == Builtin && (s.Set == ChatSet || s.Set == CodeSet):
		return len(literals(s.Set))
	case s.fromFile():
		return 0
	}
	return defaultN
}

func (s Spec) fromFile() bool { return s.Kind == JSONL || s.Kind == ShareGPT || s.Kind == Trace }

var formats = []Format{Mooncake, Azure, BurstGPT}

// checkSource takes the spec with its defaults, and as it was given.
func (s Spec) checkSource(given Spec) error {
	sets := []string{ChatSet, CodeSet, RAGSet, ContextSet}
	have := literals(s.Set)
	switch {
	case s.Kind == Builtin && !slices.Contains(sets, s.Set):
		return unknown("set", s.Set, sets...)
	case have != nil && s.N > len(have):
		return fmt.Errorf("n: the built-in set %s has %d prompts and not %d: write at most %d, or kind: random for more",
			s.Set, len(have), s.N, len(have))
	case s.fromFile() && s.Path == "":
		return fmt.Errorf("path: is missing: name the file that kind %s reads", s.Kind)
	case s.fromFile() && !plainPath(s.Path):
		return fmt.Errorf("path: %.80q has a character that cannot be shown, or is too long: rename the file", s.Path)
	case s.Kind == Trace && !slices.Contains(formats, s.Format):
		return unknown("format", string(s.Format), formats...)
	case s.Kind == Trace && s.Format != Mooncake && (given.TimeUnit != "" || given.Block != 0):
		return fmt.Errorf("time_unit and block: a trace of format %s has a unit of its own and no hash_ids: remove them", s.Format)
	case s.Format == Mooncake && s.TimeUnit != "ms" && s.TimeUnit != "s":
		return fmt.Errorf("time_unit: %.40q is not known: write ms for timestamps in milliseconds, as Mooncake's, or s for seconds",
			s.TimeUnit)
	case s.Kind == SharedPrefix && (s.Groups == 0 || s.Prefix == 0):
		return fmt.Errorf(
			"groups and prefix: kind shared-prefix needs both: write how many groups there are and how many words each shares",
		)
	case s.Groups > s.N:
		return fmt.Errorf("groups: %d groups have no prompt among %d: write n of at least %d", s.Groups-s.N, s.N, s.Groups)
	}
	return nil
}

func plainPath(path string) bool {
	return len(path) <= 4096 && utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (s Spec) checkInput() error {
	generates := !s.fromFile() && literals(s.Set) == nil
	switch {
	case !generates:
		return nil
	case s.Input.isZero():
		return fmt.Errorf("input: is missing: say how long prompts are, such as {dist: fixed, value: 512}")
	case s.Kind == Lognormal && s.Input.Dist != LogNormal:
		return fmt.Errorf("input.dist: kind lognormal has lognormal lengths: write kind: random for others")
	}
	if s.Prefix >= MaxWords {
		return fmt.Errorf("prefix: leaves no room for the prompt: write at most %d", MaxWords-1)
	}
	return s.Input.check("input", s.inputLimit())
}

// inputLimit leaves room for what surrounds the drawn words.
func (s Spec) inputLimit() int {
	if s.Kind == Builtin {
		return MaxWords - 100
	}
	return MaxWords - s.Prefix
}

func (s Spec) checkOutput() error {
	switch {
	case s.Output.isZero():
		return nil
	case s.AnswerLengths:
		return fmt.Errorf("output: answer_lengths takes lengths from the file: remove one of the two")
	}
	return s.Output.check("output", MaxOutput)
}

// unknown returns the error of an unknown word, and which it may be.
func unknown[T ~string](field, got string, known ...T) error {
	if near := text.Nearest(got, texts(known)); near != "" {
		return fmt.Errorf("%s: %.40q is not known: did you mean %s? Write one of %s", field, got, near, list(known))
	}
	return fmt.Errorf("%s: %.40q is not known: write one of %s", field, got, list(known))
}

func list[T ~string](words []T) string { return strings.Join(texts(words), ", ") }

func texts[T ~string](words []T) (all []string) {
	for _, w := range words {
		all = append(all, string(w))
	}
	return all
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
