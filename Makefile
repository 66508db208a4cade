# What CI runs and what a developer runs are the same line: make test.
.PHONY: test lint fuzz bench evaluate mde

PKGS = ./...

test: lint
	go test -race -shuffle=on -timeout 18m $$(go list $(PKGS) | grep -v /detect/evaluate)
	go test -shuffle=on ./internal/detect/evaluate # millions of scores and no goroutine: ten times longer with the race detector

lint:
	@test -z "$$(gofmt -s -l cmd e2e internal)" || { echo "run: gofmt -s -w cmd e2e internal"; gofmt -s -l cmd e2e internal; exit 1; }
	go vet $(PKGS)
	go tool staticcheck $(PKGS)
	go tool actionlint .github/workflows/*.yml
	go mod tidy -diff
	GOOS=windows go vet ./cmd/accelgate ./internal/worker ./internal/host ./internal/safetensors ./internal/svd ./internal/hub
	GOOS=darwin GOARCH=arm64 go vet ./cmd/accelgate ./internal/worker ./internal/host ./internal/safetensors ./internal/svd ./internal/hub

# Each fuzz target for a short while; longer with FUZZTIME=10m.
FUZZTIME ?= 10s
fuzz:
	@set -e; for pkg in $$(grep -rl --include=*_test.go '^func Fuzz' internal | xargs -n1 dirname | sort -u); do \
	  for target in $$(grep -rhoE --include=*_test.go '^func Fuzz[A-Za-z0-9]+' $$pkg | cut -c6-); do \
	    echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./$$pkg; \
	  done; done

# False alarms and power of internal/detect as tables, some of which docs/detection.md holds: on generated noise, and on real
# series where ACCELGATE_TEST_DATA, or ../shared/data, has them. Then whole reports through the gate, whose tables docs/detection.md
# must hold; UPDATE=1 writes them there.
evaluate:
	ACCELGATE_TEST_DATA="$${ACCELGATE_TEST_DATA:-$(abspath $(wildcard ../shared/data))}" go test -run . -count=1 -v ./internal/detect/evaluate
	ACCELGATE_TEST_TIER=thorough ACCELGATE_TEST_DATA="$${ACCELGATE_TEST_DATA:-$(abspath $(wildcard ../shared/data))}" go test -run 'Thorough$$' -count=1 -timeout 30m -v ./internal/gate/evaluate $(if $(UPDATE),-update)

# Is the minimum detectable effect true? 100 trials each with none, half and all
# of it, on the embedded engine; minutes, on a quiet machine.
mde:
	ACCELGATE_MDE=$${ACCELGATE_MDE:-100} go test -run '^TestMDE$$' -count=1 -timeout 60m -v ./internal/cli

bench:
	go test -run '^$$' -bench . -benchtime 200ms $(PKGS)

