package github_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// emulateVersion is the version that the deviations are of.
const emulateVersion = "0.12.2"

const ownerToken = "ghp_octo0123456789" // of the owner of the repository

// tools returns the folder of programs that tests need and Go does not bring:
// see CONTRIBUTING.md.
func tools() string {
	if dir := os.Getenv("ACCELGATE_TOOLS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", ".tools")
}

// emulator is a running emulate, a GitHub that others wrote. Every start on it
// begins with an empty repository behind a proxy of its own.
type emulator struct {
	upstream, address string
	adapter           *adapter
	behind            *httptest.Server // serves the adapter
	proxy             atomic.Pointer[githubtest.Proxy]
}

// startEmulate starts emulate for the test. Where it is absent the test is
// skipped, or fails where ACCELGATE_TEST_REQUIRE=1 says that nothing may be
// missing.
func startEmulate(t *testing.T) *emulator {
	t.Helper()
	modules := filepath.Join(tools(), "npm", "node_modules")
	_, noNode := os.Stat(filepath.Join(modules, ".bin", "node"))
	if err := errors.Join(installed(filepath.Join(modules, "emulate")), noNode); err != nil {
		missing := fmt.Sprintf("the client was NOT tested against emulate: %v: run: npm install --prefix %s node@24 emulate@%s, "+
			"or say in ACCELGATE_TOOLS where npm/node_modules is", err, filepath.Dir(modules), emulateVersion)
		testtier.Missing(t, missing)
	}
	e := &emulator{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.proxy.Load().ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	e.address = front.URL
	for last := 5; ; last-- {
		err := e.spawn(t, modules)
		if err == nil {
			break
		}
		if last == 1 {
			t.Fatalf("start emulate: %v", err)
		}
	}
	e.adapter = &adapter{upstream: e.upstream, applied: map[string]int{}, apps: map[float64]string{}}
	e.behind = httptest.NewServer(e.adapter)
	t.Cleanup(e.behind.Close)
	return e
}

// spawn starts emulate's process until the test ends. It takes no port 0, so
// the port is one that systems give to nobody else, which may be taken.
func (e *emulator) spawn(t *testing.T, modules string) error {
	t.Helper()
	port := strconv.Itoa(20_000 + rand.IntN(10_000))
	e.upstream = "http://127.0.0.1:" + port
	seed := filepath.Join(t.TempDir(), "seed.json")
	if err := os.WriteFile(seed, []byte(emulateSeed), 0o600); err != nil {
		return err
	}
	var log bytes.Buffer
	cmd := exec.Command(filepath.Join(modules, ".bin", "node"), filepath.Join(modules, "emulate", "dist", "index.js"),
		"start", "--service", "github", "--port", port, "--seed", seed, "--base-url", e.address)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			return fmt.Errorf("it ended: %s", log.String())
		default:
		}
		if e.answers() {
			return nil
		}
	}
	return fmt.Errorf("it does not answer at %s", e.upstream)
}

// answers reports whether it is emulate with our seed that listens.
func (e *emulator) answers() bool {
	response, err := http.Get(e.upstream + "/orgs/octo")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	var org struct{ Login string }
	return json.NewDecoder(response.Body).Decode(&org) == nil && org.Login == "octo"
}

// installed returns what is wrong with the npm package in a folder.
func installed(folder string) error {
	data, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return err
	}
	var manifest struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return err
	}
	if manifest.Version != emulateVersion {
		return fmt.Errorf("%s is version %s, the known deviations are of %s", folder, manifest.Version, emulateVersion)
	}
	return nil
}

// emulateSeed has everybody that scenarios know. Repositories come later.
var emulateSeed = func() string {
	type object = map[string]any
	tokens, users := object{ownerToken: object{"login": "root", "scopes": []string{"repo", "user", "delete_repo"}}}, []object{{"login": "root"}}
	for _, known := range state().Tokens {
		tokens[known.Value] = object{"login": known.Login, "scopes": []string{"repo", "user"}}
	}
	for _, login := range []string{"mallory", "bob", "carol", "dave", "stranger", actionsBot, "alice", "other-app[bot]"} {
		users = append(users, object{"login": login})
		if _, known := tokens[tokenOf(login)]; !known {
			tokens[tokenOf(login)] = object{"login": login, "scopes": []string{"repo", "user"}}
		}
	}
	data, err := json.Marshal(object{"tokens": tokens, "github": object{"users": users,
		"orgs": []object{{"login": "octo", "members": []object{{"login": "root", "role": "admin"}}}}}})
	if err != nil {
		panic(err) // of constants
	}
	return string(data)
}()

// tokenOf returns a token by which somebody writes what is there from the
// start.
func tokenOf(login string) string { return "seed-" + strings.Trim(login, "[]") }

// start is a [starter].
func (e *emulator) start(t *testing.T, seed githubtest.State) (hub, string) {
	t.Helper()
	return e.begin(t, seed), e.address
}

// begin makes the repository anew, behind a proxy that must see nothing wrong,
// and fills it by emulate's own API.
func (e *emulator) begin(t *testing.T, seed githubtest.State) *emulated {
	t.Helper()
	proxy, err := githubtest.NewProxy(e.behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	e.proxy.Store(proxy)
	t.Cleanup(func() {
		var all []string
		for _, v := range proxy.Violations() {
			all = append(all, v.String())
		}
		slices.Sort(all)
		for _, v := range slices.Compact(all) {
			t.Errorf("GitHub's API description is violated, by the client or by a deviation of emulate that is not listed: %s", v)
		}
	})
	s := &emulated{Proxy: proxy, t: t, address: e.upstream}
	s.try("DELETE", "/repos/octo/repo", ownerToken, nil, nil) // of the scenario before
	if s.ask("GET", "/orgs/octo/teams/speed", ownerToken, nil, nil) != nil {
		s.do("POST", "/orgs/octo/teams", ownerToken, map[string]any{"name": "speed"}, nil)
	}
	s.do("POST", "/orgs/octo/repos", ownerToken, map[string]any{"name": "repo", "auto_init": true}, nil)
	s.admit(seed)
	s.fill(seed.Repos[0])
	return s
}

// TestScenariosOnEmulate is what keeps the fake honest: the client does the same
// on a GitHub that others wrote.
func TestScenariosOnEmulateThorough(t *testing.T) {
	testtier.Thorough(t)
	e := startEmulate(t)
	t.Run("deviations", func(t *testing.T) {
		for _, x := range exclusions {
			if !x.still(t, e) {
				t.Errorf("emulate does not differ any more: %s: delete it from exclusions", x.reason)
			}
		}
	})
	passed, ran := true, 0 // -run may leave some out
	for _, s := range scenarios {
		passed = t.Run(s.name, func(t *testing.T) {
			ran++
			for _, x := range exclusions {
				if slices.Contains(x.scenarios, s.name) {
					t.Skipf("emulate cannot: %s", x.reason)
				}
			}
			s.run(t, e.start)
		}) && passed
	}
	for _, d := range deviations {
		if e.adapter.applied[d.name] == 0 && passed && ran == len(scenarios) {
			t.Errorf("emulate does not deviate any more, or no scenario sees it: %s: delete it from deviations", d.name)
		}
	}
}
