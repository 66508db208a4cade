#!/usr/bin/env bash
# Runs the workflows that accelgate ships, with both actions, by nektos/act
# against fakegithub: e2e/workflows_test.go. It installs nothing. Where a tool is
# absent it says which and how to get it, and exits with 0, or with 1 where
# E2E_REQUIRE=1 says that nothing may be missing.
#
#     scripts/e2e.sh [-run PATTERN]
#
# Tools are looked for in .tools below the repository, or in ACCELGATE_TOOLS.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v go >/dev/null; then
  echo "e2e: the workflows were NOT tested, as go is missing" >&2
  [[ ${E2E_REQUIRE:-} != 1 ]]
  exit
fi
conf="${XDG_CONFIG_HOME:-$HOME/.config}/accelgate/containers.conf" # of .ci/containers
if [[ -z ${CONTAINERS_CONF:-} && -f $conf ]]; then
  export CONTAINERS_CONF=$conf
fi
E2E=1 exec go test -count=1 -v -timeout 20m "$@" ./e2e
