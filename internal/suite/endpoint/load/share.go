package load

import "fmt"

// Share returns the requests that client k of n sends, k from 0. Together the
// clients send what s sends: of an open loop each n-th arrival, of a closed one
// their part of the slots, of the warm-up and of the requests. Indices and phases are
// those of the whole, so that no two clients send one request.
func (s Schedule) Share(k, n int) (Schedule, error) {
	if n < 1 || k < 0 || k >= n || s.of > 1 {
		return Schedule{}, fmt.Errorf("there is no client %d of %d: count from 1 to %d", k+1, n, max(n, 1))
	}
	p := &s.plan
	for _, part := range []struct {
		name   string
		amount *int
		needed bool
	}{
		{"requests at once", &p.Concurrency, true},
		{"requests", &p.Requests, p.Mode == Closed},
		{"warm-up requests", &p.Warmup.Requests, false},
	} {
		if part.needed && *part.amount > 0 && *part.amount < n {
			return Schedule{}, fmt.Errorf("%d %s are fewer than %d clients: use fewer clients, or more requests", *part.amount, part.name,
				n)
		}
	}
	s.k, s.of, s.slots = k, n, p.Concurrency
	p.Concurrency = portionOf(p.Concurrency, k, n)
	if p.Mode == Closed {
		p.Requests, p.Warmup.Requests = portionOf(p.Requests, k, n), portionOf(p.Warmup.Requests, k, n)
	}
	return s, nil
}

// portionOf divides an amount so that the parts sum up to it and differ by one at most.
func portionOf(amount, k, n int) int { return (amount + n - 1 - k) / n }

// has reports whether the client sends arrival i of the whole.
func (s Schedule) has(i int) bool { return s.of <= 1 || i%s.of == s.k }

// index is the i-th request of this client among those of all.
func (s Schedule) index(i int) int { return i*max(s.of, 1) + s.k }

// allSlots are those of all clients.
func (s Schedule) allSlots() int {
	if s.of <= 1 {
		return s.plan.Concurrency
	}
	return s.slots
}
