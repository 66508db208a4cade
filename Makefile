# make test is what a developer runs; CI runs every tier: docs/testing.md.
.PHONY: test race thorough portable dead nightly tiers lint fuzz bench bench-table evaluate mde busy messages gpu-kit release-check

SHELL = /bin/bash -o pipefail
PKGS = ./...
# Packages that start goroutines or share memory between them, other than by a sync.Once. internal/detect keeps numbers in a sync.Map,
# and internal/detect/jsonl calls it from several goroutines. Of internal/report only RACED_REPORT starts some.
CONCURRENT = $(shell grep -rlE --include=*.go '^[[:space:]]*go [a-z]|sync\.(Mutex|RWMutex|WaitGroup|Map|Cond|Pool)|"sync/|sync/errgroup' internal | grep -v _test.go | xargs -n1 dirname | sort -u | grep -vxE 'internal/(detect|report)' | sed 's|^|./|')
RACED_REPORT = ^TestHTMLWithFiles$$
# Packages with tests, and rooms with scripts, of make thorough.
THOROUGH = $(shell { grep -rl --include=*_test.go '^func Test[A-Za-z0-9]*Thorough\>' internal e2e scripts; grep -l '^# tiers:.* thorough' e2e/*/*.txtar; } | xargs -n1 dirname | sort -u | sed 's|^|./|')
# Packages that look for hidden work in times of microseconds: they run one after another, when the containers are gone.
TIMED = ./e2e/kernels ./internal/suite/kernels/harness/builtin ./internal/suite/kernels/harness/workers ./internal/suite/kernels
# Takes longer than any other package of make thorough, and is therefore started first.
LONGEST = ./e2e/workflows
# Every program, for what no program calls.
MAINS = ./cmd/... ./e2e/program ./scripts/... ./internal/testing/githubtest/openapi/reduce
THOROUGHLY = go test -json -vet=off -timeout 15m -run '(Thorough|^TestScript)$$'
# What the Dockerfile builds with, and what all but the race detector can do with: each package is then compiled once.
# Without cgo a test binary is linked in two thirds of the time.
export GOFLAGS = -trimpath
export CGO_ENABLED = 0
PROGRAMS = go build -o .test/bin/accelgate ./e2e/program && go build -o .test/bin/fakegithub ./cmd/fakegithub
SUMMARY = go run ./scripts/testsummary -out .test

test: lint .test/bin
	@$(PROGRAMS)
	@export ACCELGATE_TEST_BIN=$(CURDIR)/.test/bin; \
	go test -json -vet=off -shuffle=on -timeout 8m $(PKGS) | $(SUMMARY)/test.passed

# The race detector, in this process and in the scripts about concurrency.
race: export CGO_ENABLED = 1
race: .test/race
	@go build -race -o .test/race/accelgate ./e2e/program && go build -race -o .test/race/fakegithub ./cmd/fakegithub
	@{ go test -race -json -vet=off -shuffle=on -timeout 8m $(CONCURRENT); \
	  go test -race -json -vet=off -timeout 8m -run '$(RACED_REPORT)' ./internal/report; \
	  CGO_ENABLED=0 ACCELGATE_TEST_TIER=race ACCELGATE_TEST_BIN=$(CURDIR)/.test/race go test -json -vet=off -timeout 8m -run '^TestScript$$' ./e2e/...; } | $(SUMMARY)/race.passed

# Does it compile for the other systems? In make thorough, because each needs a standard library of its own: 90 s of CPU time with an empty cache.
OTHER_SYSTEMS = ./cmd/accelgate ./internal/worker ./internal/device ./internal/tensor/safetensors ./internal/suite/analysis/svd ./internal/artifact/download
portable:
	GOOS=windows go vet $(OTHER_SYSTEMS)
	GOOS=darwin GOARCH=arm64 go vet $(OTHER_SYSTEMS)

# Which functions does no program call? In make thorough, because it builds all programs anew each time.
dead:
	@go tool deadcode -f '{{range .Funcs}}{{println .Position.File .Name}}{{end}}' $(MAINS) | sed '/^$$/d' | LC_ALL=C sort | \
	  diff - <(grep -E '^[^#]' scripts/deadcode.txt | LC_ALL=C sort) || { echo "<: remove the function that no program calls; >: remove the line from scripts/deadcode.txt"; exit 1; }

# Large inputs, every cheat at every size, many seeds, containers, act, emulate.
thorough: portable dead .test/bin
	@$(PROGRAMS)
	@export ACCELGATE_TEST_TIER=thorough ACCELGATE_TEST_BIN=$(CURDIR)/.test/bin; \
	{ $(THOROUGHLY) -p 3 $(LONGEST) $(filter-out $(TIMED) $(LONGEST),$(THOROUGH)); $(THOROUGHLY) -p 1 $(filter $(TIMED),$(THOROUGH)); } | $(SUMMARY)/thorough.passed

# Packages whose random tests start at the same place in each make test, and elsewhere in each make nightly.
SEEDED = $(shell grep -rlE --include=*_test.go 'testtier\.(Seed|Quick)\(' internal | xargs -n1 dirname | sort -u | sed 's|^|./|')

# What measures for many minutes; .github/workflows/nightly.yml runs it.
nightly: evaluate mde
	@$(PROGRAMS)
	ACCELGATE_TEST_TIER=nightly go test -skip 'Nightly$$' -count=20 -timeout 30m $(SEEDED)
	.ci/tools
	CONTAINERS_CONF="$$(.ci/containers)" ACCELGATE_TEST_TIER=nightly ACCELGATE_TEST_BIN=$(CURDIR)/.test/bin go test -run '^Test(Release|Newcomer)Nightly$$' -count=1 -timeout 30m -v ./e2e/workflows
	ACCELGATE_TEST_TIER=nightly ACCELGATE_TEST_BIN=$(CURDIR)/.test/bin go test -run '^Test(Large|ManyCells)Page.*Nightly$$' -count=1 -timeout 30m -v ./e2e/browser
	ACCELGATE_TEST_TIER=nightly go test -run 'Nightly$$' -count=1 -timeout 60m -p 1 ./internal/cli ./internal/github ./internal/suite/endpoint ./internal/suite/kernels/harness/workers ./scripts/gpu ./scripts/release
	$(MAKE) fuzz FUZZTIME=2m

# Is every test in a tier? After test, race and thorough, with all that they need.
tiers:
	@go run ./scripts/testsummary -check .test/test.passed .test/race.passed .test/thorough.passed

.test/bin .test/race:
	@mkdir -p $@

lint:
	@test -z "$$(gofmt -s -l cmd e2e internal scripts)" || { echo "run: gofmt -s -w cmd e2e internal scripts"; gofmt -s -l cmd e2e internal scripts; exit 1; }
	go vet $(PKGS)
	go tool staticcheck $(PKGS)
	go tool actionlint .github/workflows/*.yml examples/workflows/*.yml
	go mod tidy -diff

# Each fuzz target for a short while; longer with FUZZTIME=10m.
FUZZTIME ?= 10s
fuzz:
	@set -e; for pkg in $$(grep -rl --include=*_test.go '^func Fuzz' internal | xargs -n1 dirname | sort -u); do \
	  for target in $$(grep -rhoE --include=*_test.go '^func Fuzz[A-Za-z0-9]+' $$pkg | cut -c6-); do \
	    echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./$$pkg; \
	  done; done

# False alarms and power of internal/detect and of whole reports through the gate, on generated noise, and on real series where
# ACCELGATE_TEST_DATA, or ../shared/data, has them. They must be those of docs/detection/data; UPDATE=1 writes them there.
# RECORDED=PATH evaluates what accelgate calibrate --record wrote instead.
evaluate:
ifdef RECORDED
	ACCELGATE_RECORDED="$(abspath $(RECORDED))" go test -run '^TestRecorded$$' -count=1 -v ./internal/testing/evaluate/reports
else
	ACCELGATE_TEST_DATA="$${ACCELGATE_TEST_DATA:-$(abspath $(wildcard ../shared/data))}" ACCELGATE_TEST_TIER=nightly \
	  go test -run . -count=1 -v ./internal/testing/evaluate/detection $(if $(UPDATE),-update)
	ACCELGATE_TEST_DATA="$${ACCELGATE_TEST_DATA:-$(abspath $(wildcard ../shared/data))}" ACCELGATE_TEST_TIER=nightly \
	  go test -run 'Nightly$$' -count=1 -timeout 30m -v ./internal/testing/evaluate/reports $(if $(UPDATE),-update)
endif

# Is the minimum detectable effect true? 100 trials each with none, half and all
# of it, on the embedded engine; minutes, on a quiet host.
mde:
	ACCELGATE_TEST_TIER=nightly go test -run '^(TestMDE|TestCalibration)Nightly$$' -count=1 -timeout 60m -v ./e2e/mde

# What scripts/gpu.sh needs on a host with a GPU, in one folder: neither Go nor a network is needed there.
GPU_KIT ?= .gpu-kit
gpu-kit:
	@rm -rf $(GPU_KIT) && mkdir -p $(GPU_KIT)/bin $(GPU_KIT)/scripts
	@go build -ldflags='-s -w' -o $(GPU_KIT)/bin/accelgate ./cmd/accelgate
	@for name in health watch; do go test -c -ldflags='-s -w' -o $(GPU_KIT)/bin/$$name.test ./internal/device/$$name || exit 1; done
	@gzip $(GPU_KIT)/bin/*
	@cp -R scripts/gpu.sh scripts/gpu $(GPU_KIT)/scripts/ && rm -f $(GPU_KIT)/scripts/gpu/*.go
	@git describe --always --dirty --abbrev=40 >$(GPU_KIT)/commit
	@du -sh $(GPU_KIT)

# Does the gate keep its word beside busy neighbours? Commands for hours, on a host where nothing else runs; UPDATE=1 writes the
# table of docs/detection/busy-hosts.md. TRIALS of each loss, 20 if empty, on the HOSTS whose names have that part, all if empty.
busy:
	ACCELGATE_TEST_TIER=nightly ACCELGATE_BUSY="$(TRIALS)" ACCELGATE_BUSY_HOSTS="$(HOSTS)" go test -run '^TestBusyNightly$$' -count=1 -timeout 12h -v ./e2e/busy $(if $(UPDATE),-update)

# Would a release of the last commit work? A dry run of it in clones: version, digests, pins, attestations, and the tag that moves.
# All systems with TARGETS=linux/amd64,darwin/arm64 and so on, else this host's.
VERSION ?= v1.0.0
release-check:
	@go run ./scripts/release check -version $(VERSION) -targets "$(TARGETS)"

# All errors, warnings, findings, help texts and sentences of the program, with their places; a test checks their style.
messages:
	@go test -count=1 -v -run '^TestMessagesFollowTheirRules$$' ./internal/archtest | sed -n 's/^ *messages_test.go:[0-9]*: //p'

bench:
	go test -run '^$$' -bench . -benchtime 200ms $(PKGS)

# The table of docs/performance.md: what the costliest work takes beside its floor or peer, from benchmarks of one run. Minutes, on a
# host where nothing else runs.
bench-table: .test/bin
	@$(PROGRAMS)
	@export ACCELGATE_TEST_BIN=$(CURDIR)/.test/bin; \
	{ go test -run '^$$' -bench '^Benchmark(Isolated|Persistent)$$/^paired$$' -benchtime 1000x ./internal/worker && \
	  go test -run '^$$' -bench '^BenchmarkStart$$' -benchtime 100x ./e2e/runs && \
	  go test -run '^$$' -bench '^BenchmarkWatch$$/^many$$' -benchtime 10x ./e2e/runs && \
	  go test -run '^$$' -bench '^BenchmarkRows$$' -benchtime 3x ./e2e/runs && \
	  go test -run '^$$' -bench '^BenchmarkStreams256$$' -benchtime 3x ./internal/suite/endpoint/openai && \
	  go test -run '^$$' -bench '^BenchmarkFiles$$' -benchtime 5x ./internal/suite/kernels/evaluator && \
	  go test -run '^$$' -bench '^BenchmarkPack$$/^best$$/^1000000$$' -benchtime 3x ./internal/suite/analysis/packing && \
	  go test -run '^$$' -bench '^BenchmarkBinary$$' -benchtime 1x ./scripts/benchtable && \
	  go test -run '^$$' -bench '^BenchmarkMatrix712$$/^isolated$$' -benchtime 3x ./internal/cli && \
	  go test -run '^$$' -bench '^BenchmarkReport$$/^(terminal|json|html--out.*|baseline|floor)$$' -benchtime 2x ./internal/cli; } | \
	go run ./scripts/benchtable docs/performance.md
