#!/usr/bin/env bash
# Builds the images of a release from the binaries in a folder, and pushes them:
#
#     scripts/release/images.sh v1.2.3 dist ghcr.io/accelgate/accelgate
#
# pushes REPOSITORY:v1.2.3, from nothing but the binary, and REPOSITORY:v1.2.3-tools, on
# Debian. It prints the name of the first with its digest, which action.yml is pinned to.
# PLATFORMS limits what is built, as in PLATFORMS=linux/amd64.
set -euo pipefail
version=$1 dist=$2 repository=$3
platforms=${PLATFORMS:-linux/amd64,linux/arm64}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp "$dist"/accelgate_linux_* "$context/"
rm -f "$context"/*.json
mkdir -p "$context/base/etc/ssl/certs"
mkdir -m 1777 "$context/base/tmp" # programs under test expect one
cp -L /etc/ssl/certs/ca-certificates.crt "$context/base/etc/ssl/certs/"

push() { # push TARGET TAG: build, push, and print the name with the digest
  local list=$repository:$2
  podman manifest rm "$list" >/dev/null 2>&1 || true
  podman build --quiet --layers=false --pull=missing --timestamp 0 --platform "$platforms" --manifest "$list" \
    --label "org.opencontainers.image.version=$version" --label org.opencontainers.image.source=https://github.com/accelgate/accelgate \
    --target "$1" --file "$here/Dockerfile" "$context" >&2
  podman manifest push --all --rm --digestfile "$context/digest" "$list" "docker://$list" >&2
  echo "$repository@$(<"$context/digest")"
}

push accelgate "$version"
push tools "$version-tools" >&2
