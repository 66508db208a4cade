#!/usr/bin/env bash
# Does all that needs an NVIDIA device, and exits: records what nvidia-smi prints,
# holds accelgate's readers against it, pins by index, UUID and MIG, measures
# kernels, builds and cheats on the device, noise, stand-ins for models and a
# server, floors and memory.
#
#   scripts/gpu.sh [FOLDER]      default .gpu; FOLDER/summary.json names each step
#
# PYTHON names a Python with torch for CUDA (default python3), ACCELGATE_GPU the
# device's number (default 0), ACCELGATE_GPU_STEPS some steps only. Exit 0: every
# step passed or was skipped for a stated reason; 1: one failed; 3: there is no GPU.
#
# ACCELGATE_GPU_DRY=1 goes on without a driver, for tests of this script: then
# summary.json has "real": false and nothing is written to FOLDER/fixtures.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

out=${1:-.gpu}
python=${PYTHON:-python3}
gpu=${ACCELGATE_GPU:-0}
steps=${ACCELGATE_GPU_STEPS:-record readers pinning kernels builds cheats noise1 noise2 noise3 noise4 model endpoint roofline}
limit=570 # seconds of a step
declare -A named=([record]=1 [readers]=1 [pinning]=1 [kernels]=1 [builds]=1 [cheats]=1 [noise1]=1 [noise2]=1 [noise3]=1 [noise4]=1 [model]=1 [endpoint]=1 [roofline]=1)

die() { # die CODE MESSAGE
  echo "gpu.sh: $2" >&2
  exit "$1"
}
for step in $steps; do
  [[ -n ${named[$step]:-} ]] || die 2 "there is no step $step: choose from ${!named[*]}"
done
[[ $gpu =~ ^[0-9]+$ ]] || die 2 "ACCELGATE_GPU is '$gpu': write the number of a device"

# Is a GPU here, and is nvidia-smi that of its driver?
real=true
if [[ ! -r /proc/driver/nvidia/version ]]; then
  [[ ${ACCELGATE_GPU_DRY:-} == 1 ]] || die 3 "no NVIDIA GPU: /proc/driver/nvidia/version is missing: run this on a host with an NVIDIA GPU and its driver"
  real=false
fi
smi=$(command -v nvidia-smi) || die 3 "no nvidia-smi on the PATH: install the driver's tools and run this again"
list=$(timeout 60 nvidia-smi -L 2>&1) || die 3 "nvidia-smi -L failed (${list//$'\n'/ }): repair the driver and run this again"
[[ $list == *GPU\ * ]] || die 3 "nvidia-smi -L lists no GPU: attach one and run this again"

mkdir -p "$out/logs" "$out/work" || die 2 "$out cannot be made: name another folder"
out=$(cd "$out" && pwd)
fixtures=$out/fixtures
[[ $real == true ]] || fixtures=$out/dry
rm -rf "$fixtures"
mkdir -p "$fixtures"
export CGO_ENABLED=0 GOFLAGS=-trimpath
accelgate=$out/work/accelgate

json() { # json TEXT: as a JSON string
  local s=${1//\\/\\\\}
  s=${s//\"/\\\"} s=${s//$'\n'/\\n} s=${s//$'\t'/\\t}
  printf '"%s"' "${s//[$'\001'-$'\037']/ }"
}

need_torch() { # need_torch: CUDA's torch, or the reason why not
  "$python" - <<'PY' 2>&1
try:
    import torch
except ImportError:
    raise SystemExit("this Python has no torch: name one that has it in PYTHON")
if not torch.cuda.is_available():
    raise SystemExit("torch sees no CUDA device: install a torch that is built for CUDA")
PY
}

build() {
  [[ -x $accelgate ]] || go build -o "$accelgate" ./cmd/accelgate
}

# Each step is a function that runs in a shell of its own. Exit 77 skips; the last
# line of its log is the reason.
skip() {
  echo "$*"
  exit 77
}
torch_or_skip() {
  local why
  why=$(need_torch) || skip "${why##*$'\n'}"
}

record() {
  local failed=0 n=0 lines=()
  ask() { # ask NAME SECONDS ARGUMENTS: one command, whose output is a fixture
    local name=$1 seconds=$2 code
    shift 2
    timeout "$seconds" nvidia-smi "$@" >"$fixtures/$name" 2>"$fixtures/$name.err"
    code=$?
    [[ $code != 124 || $* != *loop* ]] || code=0 # it runs until it is ended
    lines+=("  {\"file\": $(json "$name"), \"command\": $(json "nvidia-smi $*"), \"exit\": $code, \"bytes\": $(wc -c <"$fixtures/$name")}")
    [[ -s $fixtures/$name.err ]] || rm -f "$fixtures/$name.err"
    n=$((n + 1))
    [[ $code == 0 && -s $fixtures/$name ]] || failed=$((failed + 1))
  }
  ask list.txt 60 -L
  ask all.xml 60 -q -x
  ask one.xml 60 -q -x -i "$gpu"
  ask devices.csv 60 --query-gpu=name,memory.total,driver_version --format=csv,noheader,nounits
  ask uuids.csv 60 --query-gpu=index,uuid --format=csv,noheader,nounits
  ask processes.csv 60 --query-compute-apps=pid,used_memory,gpu_uuid --format=csv
  ask settings.csv 60 --query-gpu=index,persistence_mode,power.limit,power.default_limit,clocks.applications.graphics,clocks.default_applications.graphics --format=csv
  ask power.csv 60 --query-gpu=index,uuid,power.draw --format=csv,noheader,nounits
  ask power-instant.csv 60 --query-gpu=index,uuid,power.draw.instant --format=csv,noheader,nounits
  ask samples.csv 5 --query-gpu=timestamp,uuid,power.draw --format=csv,noheader,nounits --loop-ms=100
  ask health.csv 5 --query-gpu=uuid,clocks.sm,clocks.mem,temperature.gpu,power.draw,utilization.gpu,memory.used,clocks_event_reasons.active --format=csv,noheader,nounits --loop-ms=1000
  ask gauge.csv 5 --query-gpu=timestamp,index,uuid,clocks.sm,clocks.mem,power.draw,memory.used,temperature.gpu,utilization.gpu --format=csv,noheader,nounits --loop-ms=500
  ask gauge-reasons.csv 5 --query-gpu=timestamp,index,uuid,clocks.sm,clocks.mem,power.draw,memory.used,temperature.gpu,utilization.gpu,clocks_event_reasons.active --format=csv,noheader,nounits --loop-ms=500
  ask topology.txt 60 topo -m
  ask fields.txt 60 --help-query-gpu
  {
    printf '{"real": %s, "nvidia_smi": %s, "sha256": %s, "driver": %s, "commands": [\n' "$real" "$(json "$smi")" \
      "$(json "$(sha256sum <"$smi" | cut -d' ' -f1)")" "$(json "$(head -1 /proc/driver/nvidia/version 2>/dev/null)")"
    local IFS=$'\n'
    sed '$!s/$/,/' <<<"${lines[*]}"
    printf ']}\n'
  } >"$fixtures/commands.json"
  echo "$((n - failed)) of $n commands answered; $fixtures holds UUIDs and serial numbers: replace them before you publish it"
  [[ $failed -lt $n && -s $fixtures/all.xml ]]
}

readers() {
  ACCELGATE_GPU_FIXTURES=$fixtures go test -count=1 -run '^TestRecordedNVIDIA$' -v ./internal/device/health ./internal/device/gauge || return 1
  build && "$accelgate" doctor --json >"$out/work/doctor.json"
  # doctor exits 1 for what is wrong with the host; what counts here is that the devices were read.
  grep -q '"' "$out/work/doctor.json" || return 1
  echo "health was read from the recorded output, doctor's findings are in work/doctor.json"
}

# suite NAME: a configuration for the step's own folder, from its standard input.
suite() {
  mkdir -p "$out/work/$1"
  { printf 'version: 1\nhost: {label: gpu-sh, health: auto}\nsuites:\n'; cat; } >"$out/work/$1/accelgate.yaml"
}

model_suite() {
  suite "$1" <<YAML
  - name: stand-in
    kind: models
    command: ["$python", "$PWD/scripts/gpu/model.py", "${2:-cuda:0}"]
    models: [torch]
    backends: [cuda]
    features: [{id: decode, expect: {contains: [finite]}}]
    repeats: 3
    metrics:
      - {name: decode_tps, json: decode_tps, unit: tok/s, better: higher}
    answer: {json: text}
YAML
}

measured() { # measured NAME DEVICE: exit 0, with the device in run.json
  (cd "$out/work/$1" && "$accelgate" run --ab off --devices "$2") || return 1
  grep -q '"device": "nvidia:' "$out/work/$1/.accelgate/run.json"
}

pinning() {
  torch_or_skip
  build || return 1
  local uuid mig seen id
  uuid=$(sed -n "s/^GPU $gpu: .*(UUID: \(GPU-[^)]*\))$/\1/p" <<<"$list")
  [[ -n $uuid ]] || { echo "nvidia-smi -L shows no UUID of GPU $gpu"; return 1; }
  mig=$(grep -oE 'MIG-[0-9A-Za-z/-]+' <<<"$list" | head -1)
  for id in "$gpu" "$uuid" ${mig:+"$mig"}; do
    seen=$(CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=$id "$python" -c 'import torch; print(torch.cuda.device_count())')
    [[ $seen == 1 ]] || { echo "with $id torch sees '$seen' devices, want 1"; return 1; }
    model_suite "pin-${id//\//-}"
    measured "pin-${id//\//-}" "nvidia:$id" || { echo "a run on nvidia:$id failed"; return 1; }
  done
  if [[ -n $mig ]]; then
    echo "pinned by number, UUID and MIG instance"
  else
    echo "pinned by number and UUID; there is no MIG instance, and this script changes no setting of the GPU"
  fi
}

kernels() {
  torch_or_skip
  build || return 1
  "$accelgate" kernels run --python "$python" --device cuda:0 --devices "nvidia:$gpu" --reference torch --solutions reference \
    --max-workloads 2 --out "$out/work/kernels"
}

on_device() { # on_device PACKAGE TESTS: tests that take a device
  local log=$out/work/tests.log
  CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=$gpu ACCELGATE_TEST_DEVICE=cuda:0 ACCELGATE_TEST_PYTHON=$python ACCELGATE_TEST_TIER=thorough \
    go test -count=1 -timeout 9m -v -run "$2" "$1" | tee "$log"
  [[ ${PIPESTATUS[0]} == 0 ]] || return 1
  grep -q '^ *--- PASS' "$log" || skip "no test ran: $(grep -m1 -A1 -- '--- SKIP' "$log" | tail -1)"
  echo "$(grep -c '^ *--- PASS' "$log") passed, $(grep -c '^ *--- SKIP' "$log") skipped"
}

builds() {
  torch_or_skip
  on_device ./internal/suite/kernels '^TestOnDeviceThorough$'
}

cheats() {
  torch_or_skip
  on_device ./internal/suite/kernels/harness/workers '^TestCheatsOnDeviceThorough$'
}

noise() { # noise K: a quarter of 20 kernels, so that each step ends in time
  torch_or_skip
  build || return 1
  local data=${ACCELGATE_TEST_DATA:-../shared/data}/flashinfer/flashinfer-trace more=()
  if [[ -d $data/definitions ]]; then
    more=("    dataset: \"$(cd "$data" && pwd)\"" '    definitions: ["rmsnorm_*", "fused_add_rmsnorm_*", "gemm_*"]' '    max_workloads: 3')
  fi
  suite "noise$1" <<YAML
  - name: k
    kind: kernels
    reference: torch
    solutions: [reference]
    python: "$python"
    device: cuda:0
$(printf '%s\n' "${more[@]}")
YAML
  (cd "$out/work/noise$1" && "$accelgate" calibrate --devices "nvidia:$gpu" --max-cells 20 --shard "$1/4" --rounds 10 --budget 8m --record "$out/noise/") || return 1
  echo "noise/ holds all rounds, with neighbours as pairs: make evaluate RECORDED=$out/noise/"
}
noise1() { noise 1; }
noise2() { noise 2; }
noise3() { noise 3; }
noise4() { noise 4; }

model() {
  torch_or_skip
  build || return 1
  model_suite model
  measured model "nvidia:$gpu" || return 1
  grep -q peak_device_memory_mib "$out/work/model/.accelgate/run.json" || { echo "no memory of the device was seen"; return 1; }
}

endpoint() {
  torch_or_skip
  build || return 1
  suite endpoint <<YAML
  - name: chat
    kind: endpoint
    server: {command: ["$python", "$PWD/scripts/gpu/server.py", "cuda:0", "{port}"]}
    load: {concurrency: [1, 4], duration: 20s}
YAML
  measured endpoint "nvidia:$gpu" || return 1
  for metric in device_sm_clock_mhz device_power_w device_memory_max_mib; do
    grep -q "\"metric\": \"$metric\"" "$out/work/endpoint/.accelgate/run.json" || { echo "no $metric was read during the load"; return 1; }
  done
}

roofline() {
  torch_or_skip
  CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=$gpu "$python" scripts/gpu/roofline.py cuda:0 >"$out/roofline.json" || return 1
  cat "$out/roofline.json"
}

# shellcheck disable=SC2163 # the names of functions
export -f "${!named[@]}"
export -f noise skip torch_or_skip need_torch build suite model_suite measured on_device json
export out python gpu real smi list fixtures accelgate
child=
trap '[[ -z $child ]] || kill -TERM "$child"; die 1 "interrupted: $out/logs has what was done"' INT TERM
results=() failures=0
for step in $steps; do
  log=$out/logs/$step.log start=$SECONDS
  setsid timeout --kill-after=10 "$limit" bash -c "set -uo pipefail; $step" >"$log" 2>&1 &
  child=$! # timeout, which ends its whole group
  wait "$child"
  code=$?
  reason=$(grep -v '^[[:space:]]*$' "$log" | tail -1 | cut -c1-300)
  case $code in
    0) state=passed ;;
    77) state=skipped ;;
    124 | 137) state=failed reason="it took more than $limit s: see $log" ;;
    *) state=failed reason="exit $code: $reason" ;;
  esac
  [[ $state != failed ]] || failures=$((failures + 1))
  printf '%-9s %-8s %4d s  %s\n' "$step" "$state" $((SECONDS - start)) "$reason"
  results+=("  {\"step\": $(json "$step"), \"result\": \"$state\", \"seconds\": $((SECONDS - start)), \"reason\": $(json "$reason"), \"log\": $(json "logs/$step.log")}")
done

{
  printf '{"real": %s, "nvidia_smi": %s, "driver": %s, "gpus": %s, "commit": %s, "steps": [\n' "$real" "$(json "$smi")" \
    "$(json "$(head -1 /proc/driver/nvidia/version 2>/dev/null)")" "$(json "$list")" "$(json "$(git rev-parse HEAD 2>/dev/null)")"
  IFS=$'\n'
  sed '$!s/$/,/' <<<"${results[*]}"
  printf ']}\n'
} >"$out/summary.json.new" && mv "$out/summary.json.new" "$out/summary.json"
echo "summary: $out/summary.json"
((failures == 0)) || exit 1
