//go:build !race

package github_test

const raceEnabled = false
