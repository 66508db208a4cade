package github

import "testing"

func TestHosted(t *testing.T) {
	for address, want := range map[string]string{
		"https://GitHub.example.com/o/r.git": "github.example.com o/r", "git@github.example.com:o/r.git": "github.example.com o/r",
		"ssh://git@github.example.com:2222/o/r": "github.example.com o/r", "https://me:x@h:8443/o/r/": "h o/r", "http://h/o/r": "h o/r",
		"file:///o/r": " ", "/o/r": " ", "https://h/a/b/c": " ", "https://-h/o/r": " ", "https://h\n/o/r": " ",
	} {
		if host, repository := Hosted(address); host+" "+repository != want {
			t.Errorf("%s: got %q %q, want %q", address, host, repository, want)
		}
	}
}
