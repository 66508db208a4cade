package worker

import (
	"runtime"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Scrub returns the entries of environ, each NAME=VALUE, that may reach a
// child: those whose name [Withheld] does not report and whose value holds no
// URL with a password, whatever the name. The result is never nil, because
// os/exec takes a nil environment for "inherit everything".
func Scrub(environ []string) []string {
	kept := make([]string, 0, len(environ))
	for _, entry := range environ {
		if name, ok := nameOf(entry); ok && !Withheld(name) && !urlPassword.MatchString(entry[len(name)+1:]) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// urlPassword finds scheme://user:password@host, the user possibly empty.
var urlPassword = lazyregexp.New(`[A-Za-z0-9]://[^\s/?#]*:[^\s/?#]+@`)

// Withheld reports whether a variable of this name is kept from every child,
// because it belongs to the CI runner or its name says that it holds a
// secret. Names are judged by their words, without digits at the end, so
// TOKENIZERS_PARALLELISM and MAX_TOKENS pass and HF_TOKEN2 does not. A word
// that ends in PASS is a password, except BYPASS and COMPASS; one that ends in
// PWD is too, except in the shell's PWD and OLDPWD. A harmless name that reads
// like a secret, such as EOS_TOKEN, is withheld: the other mistake costs more.
func Withheld(name string) bool {
	name = strings.ToUpper(name)
	for _, prefix := range runnerPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return Secret(name)
}

// Secret reports whether the value of a variable is a secret by its name. Variables of the runner that are withheld,
// such as GITHUB_SHA, are none: a run must be able to name its commit.
func Secret(name string) bool {
	name = strings.ToUpper(name)
	switch {
	case slices.Contains(shellNames, name):
		return false
	case slices.Contains(secretNames, name):
		return true
	}
	words := wordsOf(name)
	for i, word := range words {
		if secretWord(word) || i > 0 && secretPair(words[i-1], word) {
			return true
		}
	}
	return namesKey(words)
}

// wordsOf splits an upper-case name. Digits at the end of a word only number
// it, as in TOKEN2 and TOKEN_2.
func wordsOf(name string) []string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	for i, word := range words {
		words[i] = strings.TrimRight(word, "0123456789")
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

var (
	runnerPrefixes = []string{"GITHUB_", "ACTIONS_", "INPUT_", "RUNNER_"}
	shellNames     = []string{"PWD", "OLDPWD"}
	secretNames    = []string{"SSH_AUTH_SOCK", "DOCKER_AUTH_CONFIG", "PGPASSFILE"}
	secretWords    = []string{"AUTH", "BEARER", "CREDENTIAL", "CREDENTIALS", "CREDS", "JWT", "NETRC", "PAT"}
	// secretEndings also match the run-together forms, such as PGPASSWORD.
	secretEndings = []string{
		"ACCESSKEY", "ACCESSKEYS", "APIKEY", "APIKEYS", "PASS", "PASSPHRASE", "PASSWD", "PASSWORD", "PASSWORDS",
		"PRIVATEKEY", "PWD", "SECRET", "SECRETKEY", "SECRETKEYS", "SECRETS", "TOKEN",
	}
	harmlessWords = []string{"BYPASS", "COMPASS"}
	keyKinds      = []string{"ACCESS", "API", "ENCRYPTION", "PRIVATE", "SIGNING"}
	harmlessKeys  = []string{"CACHE", "FOREIGN", "PARTITION", "PRIMARY", "PUBLIC", "SORT"}
)

func secretWord(word string) bool {
	if slices.Contains(harmlessWords, word) {
		return false
	}
	return slices.Contains(secretWords, word) ||
		slices.ContainsFunc(secretEndings, func(end string) bool { return strings.HasSuffix(word, end) })
}

func secretPair(first, second string) bool {
	return (second == "KEY" || second == "KEYS") && slices.Contains(keyKinds, first)
}

// namesKey reports whether the words end in a key that is not known to be one
// of a table or a cache.
func namesKey(words []string) bool {
	n := len(words)
	return n > 1 && words[n-1] == "KEY" && !slices.Contains(harmlessKeys, words[n-2])
}

// nameOf returns the name of a NAME=VALUE entry. On Windows a name may begin
// with "=", as in "=C:=C:\work".
func nameOf(entry string) (name string, ok bool) {
	if entry == "" {
		return "", false
	}
	i := strings.IndexByte(entry[1:], '=')
	if i < 0 || entry[0] == '=' && runtime.GOOS != "windows" {
		return "", false
	}
	return entry[:i+1], true
}

// without returns the entries of environ that have none of the names.
func without(environ, names []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _ := nameOf(entry)
		return slices.ContainsFunc(names, func(n string) bool { return sameName(n, name) })
	})
}

// LookupEnv returns the value of a variable that a child with this environment sees, and whether it is set. The last
// entry of a name counts.
func LookupEnv(environ []string, name string) (value string, ok bool) {
	for _, entry := range slices.Backward(environ) {
		if n, ok := nameOf(entry); ok && sameName(n, name) {
			return entry[len(n)+1:], true
		}
	}
	return "", false
}

// Getenv returns what [LookupEnv] does, "" for a variable that is not set.
func Getenv(environ []string, name string) string {
	value, _ := LookupEnv(environ, name)
	return value
}

// sameName compares names of variables, which Windows does without regard to case.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}
