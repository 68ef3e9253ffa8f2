#!/usr/bin/env bash
# Fails if a dependency in a lock file has a known vulnerability: npm packages, including those for development, and
# code that the tests' Go programs call. Needs the advisories of the npm registry and the Go vulnerability database.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

GOVULNCHECK=golang.org/x/vuln/cmd/govulncheck@v1.9.0
failed=0

check() {
  printf '\n== %s\n' "$1"
  shift
  "$@" || failed=1
}

check package-lock.json npm audit --package-lock-only --audit-level=low
while read -r module; do
  check "$module" env CGO_ENABLED=0 GOWORK=off go -C "$(dirname "$module")" run "$GOVULNCHECK" ./...
done < <(git ls-files '*/go.mod')
exit "$failed"
