# The steps of scripts/gpu.sh: step_NAME runs in a shell of its own. Exit 77 skips; the last line of its log is the reason.
# shellcheck shell=bash disable=SC2154 # variables of gpu.sh

skip() {
  echo "$*"
  exit 77
}

# Puts accelgate and the test binaries into $out/work: from the kit, or built here.
install() {
  local name
  if [[ -d $kit/bin ]]; then
    for name in accelgate health.test watch.test; do
      gzip -dc "$kit/bin/$name.gz" >"$out/work/$name" && chmod +x "$out/work/$name" || return 1
    done
    return 0
  fi
  go build -o "$accelgate" ./cmd/accelgate || return 1
  for name in health watch; do
    go test -c -o "$out/work/$name.test" "./internal/device/$name" || return 1
  done
}

need_torch() { # need_torch: CUDA's torch, or the reason why not; any torch where nothing is real
  local why
  why=$("$python" - "$device" <<'PY' 2>&1
import sys
try:
    import torch
except ImportError:
    raise SystemExit("this Python has no torch: name one that has it in PYTHON")
if sys.argv[1] != "cpu" and not torch.cuda.is_available():
    raise SystemExit("torch sees no CUDA device: install a torch that is built for CUDA")
PY
  ) || skip "${why##*$'\n'}"
}
need_device() {
  need_torch
  [[ $device != cpu ]] || skip "this needs a GPU: the rehearsal has none"
}

figures() { # figures NAME ARGUMENTS: computes the step's figures and prints its last line
  "$python" scripts/gpu/figures.py "$@" --to "$out/figures/$1.json"
}

dataset() { # dataset: the kernels, once
  [[ -d $out/work/dataset ]] || "$python" scripts/gpu/kernels.py "${device%%:*}" "$out/work/dataset"
}

# suite NAME: a configuration for the step's own folder, from its standard input.
suite() {
  mkdir -p "$out/work/$1"
  { printf 'version: 1\nhost: {label: gpu-sh, health: auto}\nsuites:\n'; cat; } >"$out/work/$1/accelgate.yaml"
}

measured() { # measured NAME ARGUMENTS: exit 0, with the device in run.json
  (cd "$out/work/$1" && "$accelgate" run --ab off "${devices[@]}" "${@:2}") || return 1
  [[ $device == cpu ]] || grep -q '"device": *"nvidia:' "$out/work/$1/.accelgate/run.json"
}

model_suite() { # model_suite NAME [GIB]
  suite "$1" <<YAML
  - name: stand-in
    kind: models
    command: ["$python", "$root/scripts/gpu/model.py", "$device", "${2:-0}"]
    models: [torch]
    backends: [cuda]
    features: [{id: decode, expect: {contains: [finite]}}]
    metrics:
      - {name: decode_tps, json: decode_tps, unit: tok/s, better: higher}
    answer: {json: text}
YAML
}

# Records each command of nvidia-smi that accelgate uses. Those that print until they are ended run at once.
step_record() {
  local failed=0 n=0 lines=() looping=()
  ask() { # ask NAME SECONDS ARGUMENTS: one command, whose output is a fixture
    local name=$1 seconds=$2
    shift 2
    timeout "$seconds" nvidia-smi "$@" >"$fixtures/$name" 2>"$fixtures/$name.err"
    echo $? >"$fixtures/$name.exit"
  }
  told() { # told NAME ARGUMENTS: enters what a command gave
    local name=$1 code
    shift
    code=$(cat "$fixtures/$name.exit")
    [[ $code != 124 || $* != *loop* ]] || code=0 # it runs until it is ended
    lines+=("  {\"file\": $(json "$name"), \"command\": $(json "nvidia-smi $*"), \"exit\": $code, \"bytes\": $(wc -c <"$fixtures/$name")}")
    rm -f "$fixtures/$name.exit"
    [[ -s $fixtures/$name.err ]] || rm -f "$fixtures/$name.err"
    n=$((n + 1))
    [[ $code == 0 && -s $fixtures/$name ]] || failed=$((failed + 1))
  }
  local loop=5 csv=--format=csv,noheader,nounits
  [[ $real == true ]] || loop=1
  local commands=(
    "list.txt 30 -L"
    "all.xml 30 -q -x"
    "one.xml 30 -q -x -i $gpu"
    "devices.csv 30 --query-gpu=name,memory.total,driver_version $csv"
    "uuids.csv 30 --query-gpu=index,uuid $csv"
    "buses.csv 30 --query-gpu=index,uuid,pci.bus_id $csv"
    "processes.csv 30 --query-compute-apps=pid,used_memory,gpu_uuid $csv"
    "settings.csv 30 --query-gpu=index,persistence_mode,power.limit,power.default_limit,clocks.applications.graphics,clocks.default_applications.graphics --format=csv"
    "watch.csv $loop --query-gpu=timestamp,index,uuid,clocks.sm,clocks.mem,power.draw,memory.used,temperature.gpu,utilization.gpu,clocks_event_reasons.active $csv --loop-ms=100"
    "topology.txt 30 topo -m"
    "fields.txt 30 --help-query-gpu"
  )
  local name seconds rest
  for entry in "${commands[@]}"; do
    read -r name seconds rest <<<"$entry"
    # shellcheck disable=SC2086 # words of a command
    ask "$name" "$seconds" $rest &
    looping+=($!)
  done
  wait "${looping[@]}"
  for entry in "${commands[@]}"; do
    read -r name seconds rest <<<"$entry"
    told "$name" "$rest"
  done
  {
    printf '{"real": %s, "nvidia_smi": %s, "sha256": %s, "driver": %s, "commands": [\n' "$real" "$(json "$smi")" \
      "$(json "$(sha256sum <"$smi" | cut -d' ' -f1)")" "$(json "$(head -1 /proc/driver/nvidia/version 2>/dev/null)")"
    local IFS=$'\n'
    sed '$!s/$/,/' <<<"${lines[*]}"
    printf ']}\n'
  } >"$fixtures/commands.json"
  { # what else is here
    uname -a; lscpu; free -g; df -h / /dev/shm; command -v nvcc ncu compute-sanitizer ninja c++ python3; nvcc --version; ncu --version
    "$python" --version; ls -d /usr/local/cuda* /sys/devices/system/node/node*; env | cut -d= -f1 | sort | tr '\n' ' '
  } >"$out/logs/host.log" 2>&1
  echo "$((n - failed)) of $n commands answered"
  [[ $failed -lt $n && -s $fixtures/all.xml ]]
}

step_readers() {
  local name
  for name in health watch; do
    ACCELGATE_GPU_FIXTURES=$fixtures "$out/work/$name.test" -test.run '^TestRecordedNVIDIA$' -test.v || return 1
  done
  "$accelgate" doctor --json >"$out/work/doctor.json"
  # doctor exits 1 for what is wrong with the host; what counts here is that the devices were read.
  grep -q '"' "$out/work/doctor.json" || return 1
  [[ $device == cpu ]] || grep -qi nvidia "$out/work/doctor.json" || { echo "doctor saw no NVIDIA device"; return 1; }
  echo "the state of the GPUs was read from the recorded output; doctor's findings are in work/doctor.json"
}

step_pinning() {
  need_device
  local uuid mig seen id
  uuid=$(sed -n "s/^GPU $gpu: .*(UUID: \(GPU-[^)]*\))$/\1/p" <<<"$list")
  [[ -n $uuid ]] || { echo "nvidia-smi -L shows no UUID of GPU $gpu"; return 1; }
  mig=$(grep -oE 'MIG-[0-9A-Za-z/-]+' <<<"$list" | head -1)
  for id in "$gpu" "$uuid" ${mig:+"$mig"}; do
    seen=$(CUDA_VISIBLE_DEVICES=$id "$python" -c 'import torch; print(torch.cuda.device_count())')
    [[ $seen == 1 ]] || { echo "with $id torch sees '$seen' devices, want 1"; return 1; }
    model_suite "pin-${id//\//-}"
    devices=(--devices "nvidia:$id")
    measured "pin-${id//\//-}" || { echo "a run on nvidia:$id failed"; return 1; }
  done
  if [[ -n $mig ]]; then
    echo "pinned by number, UUID and MIG instance"
  else
    echo "pinned by number and UUID; there is no MIG instance, and this script changes no setting of the GPU"
  fi
}

# kernel_suite NAME DEFINITIONS SOLUTIONS MORE: a configuration that keeps its builds with those of the other steps.
kernel_suite() {
  suite "$1" <<YAML
  - name: k
    kind: kernels
    dataset: "$out/work/dataset"
    reference: torch
    definitions: [$2]
    solutions: [$3]
    python: "$python"
    device: $device
    build_cache: "$out/work/builds"
    traces: "$out/work/$1"
$(printf '    %s\n' "${@:4}")
YAML
}

# Compiles the kernels in CUDA, each in a run of its own whose results are not used.
prebuild() {
  dataset || return 1
  local name all=()
  for name in rmsnorm_h4096 gemm_n4096_k4096 gqa_decode_h32_kv8_d128; do
    kernel_suite "build-$name" "$name" '"cuda_*"' 'flags: {iterations: 1, num_trials: 1, warmup_runs: 1, profile_baseline: false}'
    (cd "$out/work/build-$name" && ACCELGATE_LEASES=$PWD/leases "$accelgate" run --ab off) & # no step waits for a compiler
    all+=($!)
  done
  wait "${all[@]}"
}

step_kernels() {
  need_torch
  dataset || return 1
  kernel_suite kernels '"rmsnorm*", "gemm*", "gqa*"' 'reference, "torch_*", "triton_*", "cuda_*"' 'cuda_graph: true'
  local code=0
  measured kernels || code=1
  figures kernels --run "$out/work/kernels/.accelgate/run.json" --traces "$out/work/kernels/traces" && [[ $code == 0 || $device == cpu ]]
}

step_cheats() {
  need_torch
  dataset || return 1
  local which='"*_product"'
  [[ $device != cpu ]] || which='"honest_*", "cached_*", "lazy_*"' # the others need a GPU to gain anything
  kernel_suite cheats product "$which" 'flags: {num_trials: 1}'
  measured cheats # exits 1 where a cheat is caught
  figures cheats --device "$device" --run "$out/work/cheats/.accelgate/run.json" --traces "$out/work/cheats/traces" --sources scripts/gpu/kernels/product
}

# Compares accelgate's clock with events and CUPTI, read by a program of its own, on kernels of known length.
step_timing() {
  need_torch
  dataset || return 1
  kernel_suite timing spin '"spin_*"' 'cuda_graph: true' 'cold_cache: false'
  measured timing || return 1
  "$python" scripts/gpu/timing.py "$device" >"$out/work/timing/events.json" || return 1
  figures timing --run "$out/work/timing/.accelgate/run.json" --traces "$out/work/timing/traces" --events "$out/work/timing/events.json"
}

# Holds the memory that was seen against an allocation of 8 GiB.
step_memory() {
  need_device
  model_suite memory 8
  measured memory || return 1
  figures memory --run "$out/work/memory/.accelgate/run.json"
}

# Clocks, power, memory and energy of a load, against the driver's own counter of energy.
step_endpoint() {
  need_torch
  mkdir -p "$out/work/endpoint/counter"
  suite endpoint <<YAML
  - name: chat
    kind: endpoint
    server: {command: ["$python", "$root/scripts/gpu/server.py", "$device", "{port}", "$out/work/endpoint/counter"]}
    load: {concurrency: [1, 4], duration: $([[ $device == cpu ]] && echo 3s || echo 15s)}
YAML
  measured endpoint || return 1
  figures endpoint --run "$out/work/endpoint/.accelgate/run.json" --events "$out/work/endpoint/counter"
}

step_roofline() {
  need_device
  CUDA_VISIBLE_DEVICES=$gpu "$python" scripts/gpu/roofline.py cuda:0 >"$out/figures/roofline.json" || return 1
  tr -d '\n' <"$out/figures/roofline.json"
}

# NVIDIA's tools watch a kernel in Triton, and their own output is recorded. ncu leaves the clocks alone.
step_profile() {
  need_device
  dataset || return 1
  local once=("$python" "$root/scripts/gpu/once.py")
  PYTORCH_NO_CUDA_MEMORY_CACHING=1 timeout 60 compute-sanitizer --tool memcheck --report-api-errors no --target-processes all --print-limit 100 \
    --log-file "$fixtures/compute-sanitizer-beyond.txt" "${once[@]}" beyond &
  timeout 60 ncu --csv --page details --print-units base --target-processes all --clock-control none --section SpeedOfLight --section LaunchStats \
    --section Occupancy --log-file "$fixtures/ncu.csv" "${once[@]}"
  wait
  kernel_suite profile '"rmsnorm*"' '"triton_*"' 'profile: [ncu, compute-sanitizer]' 'flags: {num_trials: 1}'
  measured profile || return 1
  figures profile --run "$out/work/profile/.accelgate/run.json" --traces "$out/work/profile/traces"
}

step_model() {
  need_torch
  model_suite model
  measured model || return 1
  figures model --run "$out/work/model/.accelgate/run.json"
}

# Does the gate see a kernel that became 10 % slower, and only that one? Against a baseline, then in pairs with a commit.
step_gate() {
  need_torch
  dataset || return 1
  local dir=$out/work/gate slower='s/1000 \* x/1100 * x/' solution
  [[ $device != cpu ]] || slower='s/range(x/range(3 * x/'
  rm -rf "$dir"
  suite gate <<YAML
  - name: k
    kind: kernels
    dataset: data
    reference: torch
    definitions: [spin]
    solutions: [spin_spin]
    python: "$python"
    device: $device
YAML
  mkdir -p "$dir/data/solutions/accelgate" "$dir/data/definitions"
  cp -R "$out/work/dataset/definitions/spin" "$dir/data/definitions/"
  mkdir -p "$dir/data/workloads/spin"
  grep thousands85 "$out/work/dataset/workloads/spin/spin.jsonl" >"$dir/data/workloads/spin/spin.jsonl"
  cp -R "$out/work/dataset/solutions/accelgate/spin" "$dir/data/solutions/accelgate/"
  solution=$(echo "$dir"/data/solutions/accelgate/spin/spin/*.json)
  judged() { # judged NAME ARGUMENTS: keeps the exit code and the report
    local start=$SECONDS
    (cd "$dir" && "$accelgate" run "${devices[@]}" "${@:2}")
    echo $? $((SECONDS - start)) >"$dir/$1.exit"
    (cd "$dir" && "$accelgate" report .accelgate/run.json --format json >"$1.json")
  }
  judged first --ab off
  (cd "$dir" && "$accelgate" baseline update --from .accelgate/run.json --reason first) || return 1
  judged unchanged --ab off
  (cd "$dir" && git init --quiet . && git add accelgate.yaml baselines data && git -c user.name=a -c user.email=a@localhost commit --quiet -m first) || return 1
  sed -i "$slower" "$solution"
  judged slower --ab off
  judged slower-pairs --ab HEAD
  git -C "$dir" checkout --quiet data
  sed -i 's/import torch/import torch  # the same/' "$solution"
  judged unchanged-pairs --ab HEAD
  if [[ $device != cpu ]]; then # another program on the device
    "$python" -c 'import torch; x = torch.randn(4096, 4096, device="cuda"); [torch.mm(x, x, out=torch.empty_like(x)) and torch.cuda.synchronize() for _ in range(10**9)]' &
    local busy=$!
    judged unchanged-shared --ab off
    kill "$busy"
  fi
  figures gate --device "$device" --run "$dir"
}

# Fresh processes of unchanged kernels, whose neighbours are pairs: make evaluate RECORDED=FOLDER/noise/
step_noise() {
  need_torch
  dataset || return 1
  kernel_suite noise '"rmsnorm*", "gqa*"' '"torch_*"' 'flags: {num_trials: 1}'
  (cd "$out/work/noise" && "$accelgate" calibrate "${devices[@]}" --rounds 20 --budget "$((seconds > 60 ? seconds - 45 : 15))s" --record "$out/noise/") || return 1
  figures noise --noise "$out/noise"
}
