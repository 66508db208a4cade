package packing

// Realistic makes as many lengths as a test needs.
func Realistic(n int, seed uint32) []int64 { return realistic(newMT19937(seed), n) }
