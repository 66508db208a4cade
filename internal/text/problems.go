package text

import "errors"

// Problems are all complaints about something that was read, in its order, as one error. They are
// never empty where they are returned as an error.
type Problems[P error] []P

// Error returns one line per problem.
func (ps Problems[P]) Error() string { return errors.Join(ps.Unwrap()...).Error() }

// Unwrap makes each problem visible to [errors.As].
func (ps Problems[P]) Unwrap() []error {
	all := make([]error, len(ps))
	for i, p := range ps {
		all[i] = p
	}
	return all
}
