package action

import (
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	const github, enterprise = "https://github.com", "http://ghes.example"
	for _, c := range []struct{ in, server, want string }{
		{"", github, ""},
		{"https://octo.github.io/repo/", github, "https://octo.github.io/repo"},
		{"https://octo.github.io", github, "https://octo.github.io"},
		{"http://localhost:8000/x", github, "http://localhost:8000/x"},
		{"http://127.0.0.1/", github, "http://127.0.0.1"},
		{"http://pages.ghes.example/repo", enterprise, "http://pages.ghes.example/repo"},
	} {
		if got, err := siteAddress("site-url", c.in, c.server); got != c.want || err != nil {
			t.Errorf("%q: %q, %v, want %q", c.in, got, err, c.want)
		}
	}
	for _, hostile := range []string{"http://octo.github.io", "javascript:alert(1)", "//octo.github.io", "https://", "https:///x", "octo.github.io", "https://u:p@octo.github.io", "https://o/ x",
		"https://o/)[x](https://evil", "https://o/|", "https://o/`", "https://o/<script>", "https://o/\"x", "https://o/\n", "https://o/é", "https://o/?q", "https://o/#f", "file:///etc/passwd",
		"http://localhost.evil.example", "https://o/%zz", "https://o/" + strings.Repeat("a", longestAddress)} {
		if got, err := siteAddress("site-url", hostile, github); err == nil || got != "" || !strings.Contains(err.Error(), "site-url is ") {
			t.Errorf("%q: %q, %v", hostile, got, err)
		}
	}
	if got, err := address("report-url", "https://github.com/o/r/actions/runs/1#artifacts", github); err != nil || got == "" {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzAddress: whatever the input is, a link is to a web address and can end neither itself nor a table.
func FuzzAddress(f *testing.F) {
	f.Add("https://octo.github.io/repo", "https://github.com")
	f.Add("http://localhost)|", "http://x")
	f.Fuzz(func(t *testing.T, in, server string) {
		got, err := siteAddress("site-url", in, server)
		if err == nil && got != "" && (strings.ContainsAny(got, " ()[]<>|`\"'\\\n?#") || !strings.HasPrefix(strings.ToLower(got), "http")) {
			t.Errorf("%q: %q", in, got)
		}
	})
}
