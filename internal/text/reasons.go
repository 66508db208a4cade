package text

// Reasons joins two reasons, either of which may be "".
func Reasons(reason, more string) string {
	if reason == "" || more == "" {
		return reason + more
	}
	return reason + "; " + more
}
