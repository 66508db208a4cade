package config

import (
	"reflect"

	"github.com/goccy/go-yaml/ast"
)

// List is a list for whose only item a plain value may stand, and a mapping where an item can be either.
type List[T any] []T

func (List[T]) single() {}

func single(t reflect.Type) bool { return t.Implements(reflect.TypeFor[interface{ single() }]()) }

// item reports whether a node that stands for a list of this type of items is its only one.
func item(n ast.Node, t reflect.Type) bool {
	if _, scalar := scalarText(n); scalar {
		return true
	}
	if _, mapping := n.(*ast.MappingNode); !mapping || t.Kind() != reflect.Struct {
		return false
	}
	_, either := shorthand(t, "scalar")
	return either
}
