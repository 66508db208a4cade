package openapi_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/testing/githubtest/openapi"
)

func TestReduceKeepsWhatValidates(t *testing.T) {
	full := readFile(t, "testdata/full.json")
	got, err := openapi.Reduce(full, []string{"things/get"})
	if err != nil {
		t.Fatal(err)
	}
	want := readFile(t, "testdata/reduced.json")
	if diff := cmp.Diff(string(got), string(want)); diff != "" {
		t.Errorf("reduced description (-got +want):\n%s", diff)
	}
	again, err := openapi.Reduce(got, []string{"things/get"})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, got) {
		t.Errorf("reducing what is reduced changed it:\n%s", cmp.Diff(string(again), string(got)))
	}
}

func TestReduceRefusesWhatItCannotCut(t *testing.T) {
	full := string(readFile(t, "testdata/full.json"))
	for name, test := range map[string]struct{ full, operation, want string }{
		"unknown operation": {full, "things/paint", "no operation things/paint"},
		"dangling reference": {strings.Replace(full, `"error": {`, `"failure": {`, 1), "things/get",
			"no #/components/schemas/error"},
		"no JSON":    {"openapi: 3.0.3", "things/get", "decode the full description"},
		"no OpenAPI": {`{"name": "x"}`, "things/get", "is it an OpenAPI document?"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openapi.Reduce([]byte(test.full), []string{test.operation})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestCommittedDescription(t *testing.T) {
	operations := openapi.Operations()
	if !slices.IsSorted(operations) || len(slices.Compact(slices.Clone(operations))) != len(operations) {
		t.Errorf("operations.txt is not sorted and without repetition: %v", operations)
	}
	again, err := openapi.Reduce(openapi.Description(), operations)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, openapi.Description()) {
		t.Error("github.json is not cut down to operations.txt: go generate ./internal/testing/githubtest/openapi")
	}
}

// TestCommittedDescriptionIsFresh needs GitHub's whole description, which is
// too large to commit.
func TestCommittedDescriptionIsFresh(t *testing.T) {
	path := os.Getenv("ACCELGATE_TEST_OPENAPI")
	if path == "" {
		t.Skip("ACCELGATE_TEST_OPENAPI does not name the whole description: see README.md")
	}
	got, err := openapi.Reduce(readFile(t, path), openapi.Operations())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, openapi.Description()) {
		t.Error("github.json is not what the whole description gives: go generate ./internal/testing/githubtest/openapi")
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
