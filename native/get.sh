#!/usr/bin/env bash
# Puts accelgate at $RUNNER_TEMP/accelgate.exe, for native/action.yml. In a release,
# native/release.txt holds the version and the checksum of each binary: the binary of
# this host is downloaded, and used only with that checksum. Elsewhere, or with
# FROM_SOURCE=true, it is built by the host's Go, and go.sum pins what it is made of.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
to=$RUNNER_TEMP/accelgate.exe
version=$(sed -n 's/^# version: //p' "$here/release.txt")

build() {
  if ! command -v go >/dev/null; then
    echo "::error::accelgate/native found no Go to build accelgate with: install it on this host from https://go.dev/dl, or add actions/setup-go before the step"
    exit 2
  fi
  # Whatever the job builds, this is built for this host, from this source.
  cd "$here/.."
  CGO_ENABLED=0 GOFLAGS='' GOWORK=off GOOS='' GOARCH='' \
    go build -trimpath -buildvcs=false -ldflags="-s -w -X github.com/accelgate/accelgate/internal/version.released=$version" -o "$to" ./cmd/accelgate
}

sum() { # sum FILE: its SHA-256
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1 | tr -d '\\'
}

if [[ -z $version || ${FROM_SOURCE:-false} == true ]]; then
  build
  exit
fi
case ${RUNNER_OS:-} in
  Linux) name=accelgate_linux ;;
  macOS) name=accelgate_darwin ;;
  Windows) name=accelgate_windows ;;
  *) name=unknown ;;
esac
case ${RUNNER_ARCH:-} in
  X64) name+=_amd64 ;;
  ARM64) name+=_arm64 ;;
  *) name=unknown ;;
esac
if [[ ${RUNNER_OS:-} == Windows ]]; then name+=.exe; fi
want=$(awk -v name="$name" '$2 == name { print $1 }' "$here/release.txt")
if [[ -z $want ]]; then
  echo "accelgate $version has no binary for ${RUNNER_OS:-this system} on ${RUNNER_ARCH:-this processor}: it is built instead"
  build
  exit
fi
address=${DOWNLOADS:-$GITHUB_SERVER_URL/accelgate/accelgate/releases/download}/$version/$name
if ! curl --fail --silent --show-error --location --retry 3 --connect-timeout 20 --max-time 300 --output "$to" "$address"; then
  echo "accelgate $version could not be downloaded from $address: it is built instead"
  build
  exit
fi
got=$(sum "$to")
if [[ $got != "$want" ]]; then
  rm -f "$to"
  echo "::error::$address has the SHA-256 $got, and accelgate $version pins $want: do not use this download; report it as SECURITY.md says"
  exit 2
fi
chmod +x "$to"
