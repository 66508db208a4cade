package config

import "reflect"

// List is a list for whose only item a plain value may stand.
type List[T any] []T

func (List[T]) single() {}

func single(t reflect.Type) bool { return t.Implements(reflect.TypeFor[interface{ single() }]()) }
