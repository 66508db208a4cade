package bench

// timeExponents are the powers of ten of a picosecond that units of time have; micro sign and Greek mu.
var timeExponents = map[string]int{"s": 12, "ms": 9, "us": 6, "µs": 6, "μs": 6, "ns": 3, "ps": 0}

// TimeExponent returns the power of ten of a picosecond that a unit has. Other units than units of time, for which isTime
// is false, are counted in millionths: their exponent is 6.
func TimeExponent(unit string) (n int, isTime bool) {
	if n, isTime = timeExponents[unit]; !isTime {
		n = 6
	}
	return n, isTime
}
