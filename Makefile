# `make` or `make help` lists the targets.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PREFIX  ?= /usr/local
DESTDIR ?=
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

BINARY  := bin/git-worklease$(shell go env GOEXE)
LDFLAGS := -s -w -X main.version=$(VERSION)

GOLANGCI_VERSION := v2.15.0
GOLANGCI         := .tools/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

##@ For users

.PHONY: help
help: ## list these targets
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@ / {printf "\n%s:\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@printf '\nVariables: PREFIX=%s DESTDIR=%s VERSION=%s BENCHFLAGS="--quick" SOAK=5m FUZZTIME=60s\n' '$(PREFIX)' '$(DESTDIR)' '$(VERSION)'

.PHONY: demo
demo: build ## build, then show claims, a refusal and a take-over in a temporary repository
	@$(BINARY) demo

.PHONY: build
build: ## build bin/git-worklease
	@mkdir -p $(dir $(BINARY))
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/git-worklease

.PHONY: man
man: ## write the man pages to dist/man
	@rm -rf dist/man && mkdir -p dist/man
	go run -tags mangen -ldflags '$(LDFLAGS)' ./cmd/git-worklease dist/man

.PHONY: install
install: build man ## install binary, man pages and completions below PREFIX (and DESTDIR)
	tools/install.sh $(BINARY) dist/man '$(DESTDIR)$(PREFIX)'

##@ For developers

.PHONY: check
check: deps fmt vet lint build cross test ## everything that must pass before a change lands

.PHONY: deps
deps: ## install the programs that the tests need, where they are missing
	@tools/test-deps.sh

.PHONY: fmt
fmt: ## fail if a file is not as gofmt writes it
	@bad="$$(gofmt -l .)"; \
	if [ -n "$$bad" ]; then printf 'not formatted (run gofmt -w):\n%s\n' "$$bad" >&2; exit 1; fi

.PHONY: vet
vet: ## go vet
	go vet ./...

.PHONY: lint
lint: $(GOLANGCI) ## golangci-lint, in a pinned version of its own
	$(GOLANGCI) run ./...

$(GOLANGCI):
	GOFLAGS= GOBIN='$(CURDIR)/$(@D)' go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

.PHONY: cross
cross: ## build for every platform that is released
	@for platform in $(PLATFORMS); do \
		echo "build $$platform"; \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -buildvcs=false ./...; \
	done

.PHONY: test
test: ## all tests, with the race detector
	GORACE=atexit_sleep_ms=0 go test -race -timeout 60m ./...

SOAK ?= 5m

.PHONY: soak
soak: ## let thirty sessions of one clone work at once, for SOAK=5m, and print the figures
	SOAK=$(SOAK) go test ./cmd/git-worklease -run '^TestSoak$$' -count=1 -v -timeout 2h

.PHONY: proof
# The second part is about processes that are killed, cut off and refused, each by itself, where the race detector finds nothing and takes half of the time.
proof: ## prove the promises at full size against every kind of server, and print the figures
	@tools/test-deps.sh strace:strace
	@mkdir -p dist; rm -f dist/proof.jsonl
	PROOF_REPORT='$(CURDIR)/dist/proof.jsonl' GORACE=atexit_sleep_ms=0 go test -race -count=1 -timeout 2h -run '^TestProof' $$(go list ./... | grep -v /cmd/)
	PROOF_REPORT='$(CURDIR)/dist/proof.jsonl' go test -count=1 -timeout 3h -parallel 4 -run '^TestProof' ./cmd/...
	@go run ./internal/proof/report dist/proof.jsonl

FUZZTIME ?= 60s

.PHONY: fuzz
fuzz: ## fuzz every decoder, one after another for FUZZTIME=60s each (FUZZ=gitwire for some)
	tools/fuzz.sh $(FUZZTIME) $(FUZZ)

.PHONY: bench
bench: build ## measure against stock git and print the bars (BENCHFLAGS=--quick for a first look)
	go run ./internal/bench --binary $(BINARY) $(BENCHFLAGS)

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist .tools
