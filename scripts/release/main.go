// Command release makes what a release consists of. .github/workflows/release.yml calls it, and so can you: the same
// source and version give the same bytes in any folder.
//
//	go run ./scripts/release build -version v1.2.3 -out dist   # binaries, checksums.txt, an SBOM for each binary
//	go run ./scripts/release prepare -version v1.2.3           # what the pull request before the release changes
//	go run ./scripts/release check -version v1.2.3             # a dry run of everything below, but for the images
//	go run ./scripts/release notes -version v1.2.3             # the version's section of CHANGELOG.md
//	go run ./scripts/release pin -version v1.2.3 -sums dist/checksums.txt -image NAME@sha256:DIGEST
//	go run ./scripts/release pin-workflows -version v1.2.3 -commit ID
//
// A release is two commits beside the branch. The first pins the actions: action.yml names the image by its digest, and
// native/release.txt holds the checksums of the binaries. The second pins the called workflows to the first, because no
// commit can name itself. The tags are on the second.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

func main() {
	if err := run(".", os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var versionForm = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// run carries out one command in a checkout.
func run(root string, args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("no command: prepare, check, build, notes, pin or pin-workflows")
	}
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	version := flags.String("version", "", "the release, such as v1.2.3")
	out := flags.String("out", "dist", "build: the folder to write")
	only := flags.String("targets", "", "build, pin: systems such as linux/amd64, separated by commas; empty means all")
	sums := flags.String("sums", "", "pin: the checksums of the binaries")
	image := flags.String("image", "", "pin: the image with its digest")
	commit := flags.String("commit", "", "pin-workflows: the commit whose actions are pinned")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if !versionForm.MatchString(*version) {
		return fmt.Errorf("-version is %q: give one such as v1.2.3", *version)
	}
	switch args[0] {
	case "build":
		return build(root, *version, *out, *only)
	case "notes":
		text, err := notes(root, *version)
		if err == nil {
			_, err = io.WriteString(stdout, text)
		}
		return err
	case "pin":
		return pinActions(root, *version, *sums, *image, *only)
	case "pin-workflows":
		return pinWorkflows(root, *version, *commit)
	case "prepare":
		left, err := prepare(root, *version, time.Now().UTC().Format(time.DateOnly))
		for _, place := range left {
			fmt.Fprintln(stdout, place+": holds before the first release only: edit it")
		}
		return err
	case "check":
		return check(root, *version, *only, stdout)
	}
	return fmt.Errorf("unknown command %q: prepare, check, build, notes, pin or pin-workflows", args[0])
}
