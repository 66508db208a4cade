package worker_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/worker"
)

var (
	harmless = []string{
		"ANTHROPIC_MODEL", "BYPASS", "BYPASS_CACHE", "CACHE_BYPASS2", "CI", "COMPASS", "COMPAT", "CUDA_VISIBLE_DEVICES", "CUBLAS_WORKSPACE_CONFIG", "GITHUB", "GITHUBX",
		"HF_HOME", "HOME", "HSA_OVERRIDE_GFX_VERSION", "KEY", "KEYBOARD", "KV_CACHE_DTYPE", "KV_CACHE_KEY",
		"LD_LIBRARY_PATH", "MAX_TOKENS", "MAX_TOKENS2", "MONKEY", "OLDPWD", "PASSAGES", "PASSES", "MY_RUNNER_NAME", "NCCL_DEBUG", "NEW_TOKENS_MIN", "OMP_NUM_THREADS",
		"PATH", "PATTERN", "PIP_INDEX_URL", "PUBLIC_KEY", "PUBLIC_KEY_2", "PWD", "PYTHONPATH", "RUNNERS", "SORT_KEY", "SSH_AGENT_PID",
		"TERM", "TOKENIZERS_PARALLELISM", "TOKENS", "VLLM_ATTENTION_BACKEND", "XAUTHORITY", "XDG_SESSION_ID",
	}
	secret = []string{
		"ACTIONS_CACHE_URL", "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_RUNTIME_TOKEN", "Api-Key", "AUTH_HEADER",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_KEY", "CLIENTSECRET",
		"COSIGN_PASSWORD", "DB_PASS", "DEPLOY_KEY", "DOCKER_AUTH_CONFIG", "ENCRYPTION_KEY_FILE", "GH_PAT", "GH_TOKEN",
		"GITHUB_ACTIONS", "GITHUB_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "github_sha", "HF_TOKEN",
		"HUGGING_FACE_HUB_TOKEN", "INPUT_GITHUB-TOKEN", "INPUT_X", "JWT", "MYSQL_PWD", "My.Secret", "my_secrets", "NETRC",
		"NPM_AUTHTOKEN", "OPENAI_API_KEY", "OPENAI_API_KEYS", "OPENAI_APIKEY", "PASSWD", "PGPASSFILE", "PGPASSWORD",
		"RUNNER_TEMP", "Runner_Name", "SECRET", "SIGNING_KEY_ID", "SSHPASS", "SSH_AUTH_SOCK", "SSH_PRIVATE_KEY", "TOKEN",
		"TOKEN_2", "WANDB_API_KEY",
		"API_KEY2", "APITOKEN", "AWS_ACCESSKEY", "AWS_SECRETKEY", "DBPWD", "DB_PWD", "DB_PWD_2", "DEPLOY_KEY_2", "GHTOKEN",
		"HF_TOKEN2", "MYPASS", "PASS", "PASSPHRASE", "PGPASSWORD1", "SSH_PASS", "SSHPASSPHRASE", "X_PASSWD",
	}
)

func TestWithheld(t *testing.T) {
	for _, name := range harmless {
		if worker.Withheld(name) {
			t.Errorf("%s is withheld, want it to pass", name)
		}
	}
	for _, name := range secret {
		for _, name := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if !worker.Withheld(name) {
				t.Errorf("%s passes, want it withheld", name)
			}
		}
	}
}

func TestScrub(t *testing.T) {
	got := worker.Scrub([]string{"PATH=/bin", "A=1", "HF_TOKEN=x", "", "novalue", "A=2=3", "EMPTY=", "PATH=GITHUB_TOKEN=x"})
	want := []string{"PATH=/bin", "A=1", "A=2=3", "EMPTY=", "PATH=GITHUB_TOKEN=x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scrubbed (-want +got):\n%s", diff)
	}
	if got := worker.Scrub(nil); got == nil || len(got) > 0 {
		t.Errorf("scrubbed nothing is %#v, want empty and not nil", got)
	}
}

func TestScrubJudgesValues(t *testing.T) {
	for value, passes := range map[string]bool{
		"postgres://me:hunter2@db/x":                  false,
		"redis://:hunter2@cache:6379":                 false,
		"https://a.example https://u:p%40@b.example/": false,
		"git+https://x-access-token:p@host/r.git":     false,
		"--db=\"mysql://u:p:q@h\"":                    false,
		"http://proxy.example:8080":                   true,
		"http://proxy.example:8080/a@b":               true,
		"http://proxy.example:8080?to=a@b":            true,
		"ssh://git@host:22/r":                         true,
		"https://user:@host":                          true,
		"a://b:c d@e":                                 true,
		"u:p@host":                                    true,
		"/usr/bin:/bin":                               true,
	} {
		if got := len(worker.Scrub([]string{"PLACE=" + value})) == 1; got != passes {
			t.Errorf("a variable of value %s passes: %t, want %t", value, got, passes)
		}
	}
}

// The canary is looked for in what a real child sees, not in what it was
// meant to see.
func TestNoSecretReachesAChild(t *testing.T) {
	const canary = "canary-in-the-coal-mine"
	t.Setenv("WORKER_TEST_NOT_INHERITED", canary)
	var environ, env []string
	for _, name := range secret {
		environ = append(environ, name+"="+canary)
		env = append(env, strings.ToLower(name)+"="+canary)
	}
	for _, name := range harmless {
		environ = append(environ, name+"=harmless")
	}
	environ = append(environ, "MODE=worker")
	w := &worker.Isolated{Environ: environ}
	got, err := w.Do(within(t), request(t, "environ", "", append(env, "MODE=request", "ADDED=1")...))
	if err != nil || !got.OK() {
		t.Fatalf("reason %q, error %v, want success", got.Reason(), err)
	}
	seen := strings.Split(string(got.Stdout), "\n")
	for _, entry := range seen {
		if strings.Contains(entry, canary) {
			t.Errorf("the child sees %s", entry)
		}
	}
	want := []string{"MODE=request", "ADDED=1"}
	for _, name := range harmless {
		want = append(want, name+"=harmless")
	}
	for _, entry := range want {
		if !slices.Contains(seen, entry) {
			t.Errorf("the child does not see %s", entry)
		}
	}
}

func TestUnsetIsNotInherited(t *testing.T) {
	w := &worker.Isolated{Environ: []string{"GONE=1", "SET=worker", "STAYS=1", "GONETOO=1"}}
	for range 2 { // the second request must find the worker's environment as it was
		req := request(t, "environ", "", "SET=request")
		req.Unset = []string{"GONE", "SET", "ABSENT"}
		got, err := w.Do(within(t), req)
		if err != nil || !got.OK() {
			t.Fatalf("reason %q, error %v, want success", got.Reason(), err)
		}
		seen := strings.Split(string(got.Stdout), "\n")
		for _, want := range []string{"SET=request", "STAYS=1", "GONETOO=1"} {
			if !slices.Contains(seen, want) {
				t.Errorf("the child does not see %s", want)
			}
		}
		if slices.Contains(seen, "GONE=1") || slices.Contains(seen, "SET=worker") {
			t.Errorf("the child inherits what was to be unset: %q", seen)
		}
	}
	got, err := w.Do(within(t), request(t, "environ", ""))
	if err != nil || !strings.Contains(string(got.Stdout), "GONE=1") {
		t.Errorf("error %v, a request without Unset sees %q, want GONE=1 in it", err, got.Stdout)
	}
}

func TestNoEnvironmentIsNotOurs(t *testing.T) {
	t.Setenv("WORKER_TEST_NOT_INHERITED", "x")
	got, err := new(worker.Isolated).Do(within(t), request(t, "environ", ""))
	if err != nil || strings.Contains(string(got.Stdout), "WORKER_TEST_NOT_INHERITED") {
		t.Errorf("error %v, the child sees\n%s", err, got.Stdout)
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("PATH=/bin\nHF_TOKEN=x")
	f.Add("=C:=C:\\\n=\n==\nA\n_KEY=\nKEY_KEY=\n\xff_TOKEN=1")
	f.Fuzz(func(t *testing.T, text string) {
		environ := strings.Split(text, "\n")
		once := worker.Scrub(environ)
		if diff := cmp.Diff(once, worker.Scrub(once)); diff != "" {
			t.Errorf("scrubbing twice differs (-once +twice):\n%s", diff)
		}
		for _, entry := range once {
			name, _, ok := strings.Cut(entry, "=")
			if !ok || !slices.Contains(environ, entry) || worker.Withheld(name) || worker.Withheld(strings.ToLower(name)) {
				t.Errorf("%q passed", entry)
			}
		}
	})
}

// TestLastEntryCounts: a value is the one that a child sees, on Windows by a name in any case.
func TestLastEntryCounts(t *testing.T) {
	t.Parallel()
	environ := []string{"KEY=first", "nonsense", "KEY=second", "key=small", "=C:=C:\\work", "EMPTY="}
	want := "second"
	if runtime.GOOS == "windows" {
		want = "small"
	}
	if got := worker.Getenv(environ, "KEY"); got != want {
		t.Errorf("KEY is %q, want %q", got, want)
	}
	if got := worker.Getenv(environ, "Key"); (got == want) != (runtime.GOOS == "windows") {
		t.Errorf("Key is %q", got)
	}
	for name, set := range map[string]bool{"EMPTY": true, "NONE": false, "nonsense": false, "": false} {
		if value, ok := worker.LookupEnv(environ, name); value != "" || ok != set {
			t.Errorf("%q is %q, set %v; want it empty, set %v", name, value, ok, set)
		}
	}
}
