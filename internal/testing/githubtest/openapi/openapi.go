// Package openapi holds the part of GitHub's own OpenAPI description that the
// test server answers for, and the function that cuts it out of the whole.
//
// It does not load or interpret the description: githubtest does.
package openapi

import (
	_ "embed"
	"strings"
)

//go:generate go run ./reduce -o github.json "$ACCELGATE_TEST_OPENAPI"

//go:embed github.json
var description []byte

//go:embed operations.txt
var operations string

// Description returns the reduced description, an OpenAPI 3.0 document in JSON.
// The caller must not change it.
func Description() []byte { return description }

// Operations returns the ids of the operations the description is cut down to.
func Operations() []string { return strings.Fields(operations) }
