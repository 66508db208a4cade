#!/usr/bin/env bash
# Does everything that needs an NVIDIA device within a budget of minutes, and exits.
#
#   scripts/gpu.sh [FOLDER [ARCHIVE]]    default .gpu and FOLDER.tar.gz, which has FOLDER/summary.json and all else to take home
#
# PYTHON names a Python with torch for CUDA (default python3), ACCELGATE_GPU the device's number (default 0),
# ACCELGATE_GPU_BUDGET the time of all steps (default 8m), ACCELGATE_GPU_STEPS some steps only. A kit that
# `make gpu-kit` has built (.gpu-kit) is used in place of Go. Exit 0: every step passed or was
# skipped for a stated reason; 1: one failed; 3: there is no GPU.
#
# ACCELGATE_GPU_DRY=1 goes on without a driver, on the CPU, for tests of this script: then summary.json has
# "real": false and nothing is written to FOLDER/fixtures.
set -uo pipefail

# The steps in the order of what they prove, each with its limit in seconds.
plan=(record:40 readers:30 pinning:90 kernels:200 cheats:120 timing:60 memory:60 endpoint:90 roofline:60 profile:130 model:60 gate:420 noise:240)
out=$(realpath -m "${1:-.gpu}")
archive=$(realpath -m "${2:-$out.tar.gz}")
python=$(command -v "${PYTHON:-python3}") || python=${PYTHON:-python3}
gpu=${ACCELGATE_GPU:-0}

die() { # die CODE MESSAGE
  echo "gpu.sh: $2" >&2
  exit "$1"
}
cd "$(dirname "$0")/.." || exit 1
root=$PWD
names=() steps=()
for entry in "${plan[@]}"; do names+=("${entry%:*}"); done
for step in ${ACCELGATE_GPU_STEPS:-${names[*]}}; do
  [[ " ${plan[*]} " =~ \ $step:([0-9]+)\  ]] || die 2 "there is no step $step: choose from ${names[*]}"
  steps+=("$step:${BASH_REMATCH[1]}")
done
[[ $gpu =~ ^[0-9]+$ ]] || die 2 "ACCELGATE_GPU is '$gpu': write the number of a device"
[[ ${ACCELGATE_GPU_BUDGET:-8m} =~ ^([0-9]+)(m|s)$ ]] || die 2 "ACCELGATE_GPU_BUDGET is '$ACCELGATE_GPU_BUDGET': write a time such as 8m or 300s"
budget=${BASH_REMATCH[1]}
[[ ${BASH_REMATCH[2]} == s ]] || budget=$((60 * budget))

# Is a GPU here, and is nvidia-smi that of its driver?
real=true device=cuda:0 devices=(--devices "nvidia:$gpu")
if [[ ! -r /proc/driver/nvidia/version ]]; then
  [[ ${ACCELGATE_GPU_DRY:-} == 1 ]] || die 3 "no NVIDIA GPU: /proc/driver/nvidia/version is missing: run this on a host with an NVIDIA GPU and its driver"
  real=false device=cpu devices=()
fi
smi=$(command -v nvidia-smi) || die 3 "no nvidia-smi on the PATH: install the driver's tools and run this again"
list=$(timeout 60 nvidia-smi -L 2>&1) || die 3 "nvidia-smi -L failed (${list//$'\n'/ }): repair the driver and run this again"
[[ $list == *GPU\ * ]] || die 3 "nvidia-smi -L lists no GPU: attach one and run this again"

mkdir -p "$out/logs" "$out/work" "$out/figures" || die 2 "$out cannot be made: name another folder"
out=$(cd "$out" && pwd)
fixtures=$out/fixtures
[[ $real == true ]] || fixtures=$out/dry
rm -rf "$fixtures" "$out/summary.json"
mkdir -p "$fixtures"
export CGO_ENABLED=0 GOFLAGS=-trimpath CUDA_DEVICE_ORDER=PCI_BUS_ID
accelgate=$out/work/accelgate kit=$root
[[ -d $kit/bin ]] || kit=$root/.gpu-kit # in a checkout

# shellcheck source=scripts/gpu/steps.sh
source scripts/gpu/steps.sh

json() { # json TEXT: as a JSON string
  local s=${1//\\/\\\\}
  s=${s//\"/\\\"} s=${s//$'\n'/\\n} s=${s//$'\t'/\\t}
  printf '"%s"' "${s//[$'\001'-$'\037']/ }"
}

# Writes what is known so far, so that a killed run leaves what was done.
results=()
summarize() {
  {
    printf '{"real": %s, "nvidia_smi": %s, "driver": %s, "gpus": %s, "commit": %s, "budget_s": %d, "seconds": %d, "steps": [\n' "$real" "$(json "$smi")" \
      "$(json "$(head -1 /proc/driver/nvidia/version 2>/dev/null)")" "$(json "$list")" \
      "$(json "$(cat "$kit/commit" 2>/dev/null || git rev-parse HEAD 2>/dev/null)")" "$budget" "$SECONDS"
    local IFS=$'\n'
    sed '$!s/$/,/' <<<"${results[*]}"
    printf ']}\n'
  } >"$out/summary.json.new" && mv "$out/summary.json.new" "$out/summary.json"
  "$python" scripts/gpu/archive.py "$out" "$archive" || echo "gpu.sh: $archive was not written: take $out itself" >&2
}

finish() { # finish STEP STATE SECONDS REASON
  printf '%-9s %-8s %4d s  %s\n' "$1" "$2" "$3" "$4"
  local figures=null
  [[ ! -s $out/figures/$1.json ]] || figures=$(tr -d '\n' <"$out/figures/$1.json")
  results+=("  {\"step\": $(json "$1"), \"result\": \"$2\", \"seconds\": $3, \"reason\": $(json "$4"), \"log\": $(json "logs/$1.log"), \"figures\": $figures}")
  summarize
}

export out python gpu real smi list fixtures accelgate kit root device
child='' builds=''
stop() {
  [[ -z $child ]] || kill -TERM "$child" 2>/dev/null
  [[ -z $builds ]] || kill -TERM "$builds" 2>/dev/null
}
trap 'stop; die 1 "interrupted: $out has what was done"' INT TERM
trap stop EXIT

install || die 1 "accelgate was not built: see above"
if [[ " ${steps[*]}" == *" kernels:"* ]]; then # compilers need minutes: they run beside the first steps
  setsid timeout --kill-after=10 200 bash -c "$(declare -f); prebuild" >"$out/logs/prebuild.log" 2>&1 &
  builds=$!
fi
failures=0
for entry in "${steps[@]}"; do
  step=${entry%:*} limit=${entry#*:} start=$SECONDS left=$((budget - SECONDS)) log=$out/logs/${entry%:*}.log
  if ((left < 15)); then
    finish "$step" skipped 0 "no time: the budget of $budget s is spent"
    continue
  fi
  if [[ $step == kernels && -n $builds ]]; then wait "$builds"; fi
  left=$((budget - SECONDS)) cut=$limit
  ((limit <= left)) || cut=$left
  ((cut >= 5)) || cut=5
  rm -f "$out/figures/$step.json"
  setsid timeout --kill-after=10 "$cut" bash -c "set -uo pipefail; $(declare -f); devices=(${devices[*]}) seconds=$cut; step_$step" >"$log" 2>&1 &
  child=$! # timeout, which ends its whole group
  wait "$child"
  code=$?
  child=
  reason=$(grep -v '^[[:space:]]*$' "$log" | tail -1 | cut -c1-300)
  case $code in
    0) state=passed ;;
    77) state=skipped ;;
    124 | 137) ((cut < limit)) && state=skipped reason="no time: ended after $cut s" || state=failed reason="it took more than $limit s: see $log" ;;
    *) state=failed reason="exit $code: $reason" ;;
  esac
  [[ $state != failed ]] || failures=$((failures + 1))
  finish "$step" "$state" $((SECONDS - start)) "$reason"
done
echo "summary: $out/summary.json, archive: $archive"
((failures == 0)) || exit 1
