#!/usr/bin/env bash
# Fails if a dependency in a lock file has a known vulnerability: npm packages, including those for development, and
# code that the tests' Go programs call. Needs the advisories of the npm registry and the Go vulnerability database.
# Exit code 1: something is vulnerable, or a check failed. 2: nothing was found, but an advisory database could not be
# reached, so nothing is known.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

GOVULNCHECK=golang.org/x/vuln/cmd/govulncheck@v1.9.0
failed=0
unreached=()

# check NAME DATABASE UNREACHED COMMAND...: UNREACHED matches what COMMAND prints when it cannot reach the database.
check() {
  local name=$1 database=$2 pattern=$3 output
  shift 3
  printf '\n== %s\n' "$name"
  if output=$("$@" 2>&1); then
    printf '%s\n' "$output"
  elif printf '%s\n' "$output" && grep -Eq "$pattern" <<<"$output"; then
    unreached+=("$name: $database")
  else
    failed=1
  fi
}

check package-lock.json 'the advisories of the npm registry' 'audit endpoint returned an error|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT' \
  npm audit --package-lock-only --audit-level=low
# Not the GitOps tools that tests run: they are releases of others, which users choose themselves.
while read -r module; do
  check "$module" 'the Go vulnerability database' 'govulncheck: fetching vulnerabilities' \
    env CGO_ENABLED=0 GOWORK=off go -C "$(dirname "$module")" run "$GOVULNCHECK" ./...
done < <(git ls-files '*/go.mod' ':!test/gitops/argocd' ':!test/gitops/kustomize-controller')

if ((${#unreached[@]} > 0)); then
  printf '\nNot checked, since the database could not be reached:\n'
  printf -- '- %s\n' "${unreached[@]}"
fi
((failed)) && exit 1
((${#unreached[@]} > 0)) && exit 2
exit 0
