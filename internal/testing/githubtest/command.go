package githubtest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Exit codes of [Command].
const (
	exitOK     = 0
	exitFailed = 1 // violations, or no such page
	exitUsage  = 2
)

const usage = `fakegithub serves a stand-in for GitHub's API to tests of workflows, actions and containers.

    fakegithub -state FILE [-addr HOST:PORT] [-addr-file FILE] [-stdin]
    fakegithub get URL
    fakegithub post URL

The first line on stdout is the address, for GITHUB_API_URL. The server runs until it is interrupted. It then exits
with 1 and lists the violations on stderr if a request or a response broke GitHub's own description of the API.

    -state FILE      what there is at the start, as JSON:
                     {"repos": [{"name": "octo/repo", "files": {"README.md": "hello\n"},
                                 "branches": {"work": {"main.go": "package main\n"}},
                                 "pull_requests": [{"title": "Work", "head": "work"}]}],
                      "tokens": [{"value": "secret", "login": "github-actions[bot]", "integration": true,
                                  "permissions": {"contents": "write", "pull-requests": "write", "checks": "write"}}]}
                     "chaos": {"seed": 1, "share": 0.2} makes a fifth of the requests fail at random.
                     All keys: go doc ./internal/testing/githubtest State
    -addr HOST:PORT  where to listen (default 127.0.0.1:0, a free port)
    -addr-file FILE  write the address to FILE too, once it listens
    -stdin           stop when stdin is closed

Pages for scripts, below the address; "get" prints one and fails where there is none:

    /_fake/comments?repo=octo/repo&issue=1               JSON
    /_fake/commit-comments?repo=octo/repo&sha=COMMIT     JSON
    /_fake/pulls?repo=octo/repo                          JSON
    /_fake/checks?repo=octo/repo&sha=COMMIT              JSON
    /_fake/head?repo=octo/repo&branch=main               the commit
    /_fake/files?repo=octo/repo&branch=main              one path per line
    /_fake/files?repo=octo/repo&branch=main&path=FILE    what is in the file
    /_fake/reactions?repo=octo/repo&comment=ID           one per line: login, emoji
    /_fake/dispatches                                    JSON
    /_fake/requests                                      one per line: method, path, status
    /_fake/violations                                    one per line

Pages that do what people do; "post" calls one:

    /_fake/comment?repo=octo/repo&issue=1&as=LOGIN&body=TEXT           prints the id
    /_fake/label?repo=octo/repo&issue=1&as=LOGIN&label=NAME
    /_fake/unlabel?repo=octo/repo&issue=1&as=LOGIN&label=NAME
    /_fake/push?repo=octo/repo&branch=NAME&path=FILE&content=TEXT      prints the commit
`

// Command runs the fakegithub command and returns its exit code: 0, 1 after
// violations, 2 for wrong usage. It returns soon after ctx is done.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 2 && (args[0] == "get" || args[0] == "post") {
		return send(ctx, strings.ToUpper(args[0]), args[1], stdout, stderr)
	}
	flags := flag.NewFlagSet("fakegithub", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	state := flags.String("state", "", "")
	addr := flags.String("addr", "127.0.0.1:0", "")
	addrFile := flags.String("addr-file", "", "")
	untilEOF := flags.Bool("stdin", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	case flags.NArg() > 0 || *state == "":
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	server, err := serverFromFile(*state)
	if err != nil {
		fmt.Fprintln(stderr, "fakegithub:", err)
		return exitUsage
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if *untilEOF {
		go func() { // ends with stdin, at the latest with the process
			_, _ = io.Copy(io.Discard, stdin)
			cancel()
		}()
	}
	if err := listen(ctx, server, *addr, *addrFile, stdout); err != nil {
		fmt.Fprintln(stderr, "fakegithub:", err)
		return exitUsage
	}
	violations := server.Violations()
	writeLines(stderr, violations)
	if len(violations) > 0 {
		return exitFailed
	}
	return exitOK
}

func serverFromFile(path string) (*Server, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	defer file.Close()
	var state State
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&state); err != nil {
		return nil, fmt.Errorf("read the state %s: %w: see fakegithub -help for its form", path, err)
	}
	return NewServer(state)
}

// listen serves until ctx is done, after announcing the address.
func listen(ctx context.Context, handler http.Handler, addr, addrFile string, stdout io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	address := "http://" + listener.Addr().String()
	if addrFile != "" {
		if err := writeFile(addrFile, address+"\n"); err != nil {
			_ = server.Close()
			<-served
			return fmt.Errorf("write the address: %w", err)
		}
	}
	fmt.Fprintln(stdout, address)
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = server.Shutdown(grace) // a client that hangs on is cut off
	<-served
	return nil
}

// writeFile makes content appear at path at once, for a script that waits for
// the file.
func writeFile(path, content string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".fakegithub-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once it is renamed
	_, err = file.WriteString(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// send prints a page, for scripts on machines without curl.
func send(ctx context.Context, method, url string, stdout, stderr io.Writer) int {
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		fmt.Fprintln(stderr, "fakegithub:", err)
		return exitUsage
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Fprintln(stderr, "fakegithub:", err)
		return exitFailed
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		fmt.Fprintln(stderr, "fakegithub:", url+":", response.Status)
		stdout = stderr
	}
	if _, err := io.Copy(stdout, response.Body); err != nil || response.StatusCode != http.StatusOK {
		return exitFailed
	}
	return exitOK
}
