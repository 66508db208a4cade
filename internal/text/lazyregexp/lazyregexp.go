// Package lazyregexp compiles a regular expression at its first use. accelgate starts itself for every measurement of the
// embedded engine, and seventy expressions that most processes never use took each of them a third of its start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled when it is first used, which panics if it is wrong. Its methods are
// those of [regexp.Regexp] and may be called by several goroutines at once.
type Regexp struct {
	compiled func() *regexp.Regexp
}

// New returns the expression, not yet compiled.
func New(expr string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// MatchString is that of [regexp.Regexp], as are all below.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.compiled().FindSubmatch(b) }

func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compiled().FindAllSubmatch(b, n)
}

func (r *Regexp) FindIndex(b []byte) []int { return r.compiled().FindIndex(b) }

func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.compiled().FindAllIndex(b, n) }

func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compiled().ReplaceAllString(s, with)
}

func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, with)
}
