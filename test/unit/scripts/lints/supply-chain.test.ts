import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { findingsIn, supplyChainFindings } from '../../../../scripts/lints/supply-chain.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const DIGEST = `sha256:${'a1'.repeat(32)}`
const dockerfile = `ARG BASE=example.com/node:24\nFROM --platform=$BUILDPLATFORM \${BASE} AS build\nRUN true\nFROM build\nFROM \${BASE}\n`
const build = `docker/build-push-action@${COMMIT}`
const found = { steps: [{ run: '[[ "$digest" =~ ^sha256:[0-9a-f]{64}$ ]]' }] }

function problems(jobs: object, from = dockerfile): readonly string[] {
  // The version in a comment, as required of every line with a commit.
  const text = stringify({ jobs }, { lineWidth: 0 }).replaceAll(new RegExp(`(@${COMMIT})$`, 'gm'), '$1 # v1.2.3')
  const workflow = { path: '.github/workflows/release.yml', text }
  return findingsIn([workflow], { path: 'Dockerfile', text: from }).map(({ problem }) => problem)
}

test('what the releases of this project are made of is pinned', async () => {
  expect(await supplyChainFindings(fileURLToPath(new URL('../../../..', import.meta.url)))).toEqual([])
})

describe('an action', () => {
  test.each([`actions/checkout@${COMMIT}`, `github/codeql-action/init@${COMMIT}`, './.github/workflows/other.yml'])(
    '%s passes',
    (uses) => {
      expect(problems({ a: { steps: [{ uses }] }, b: { uses } })).toEqual([])
    },
  )

  test.each([
    'actions/checkout@v4',
    'actions/checkout@main',
    'actions/checkout',
    `actions/checkout@${COMMIT.slice(0, 39)}`,
    `actions/checkout@${COMMIT}0`,
    'docker://alpine:3',
  ])('%s is found in a step and as a job', (uses) => {
    expect(problems({ a: { steps: [{ uses }] } })).toHaveLength(1)
    expect(problems({ b: { uses } })).toHaveLength(1)
  })

  test('whose version nobody can read is found', () => {
    const text = `jobs: {a: {steps: [{uses: actions/checkout@${COMMIT}}]}}`
    expect(findingsIn([{ path: 'ci.yml', text }], { path: 'Dockerfile', text: dockerfile })).toHaveLength(1)
  })
})

describe('an image', () => {
  test('that a job runs in is named by digest', () => {
    const services = { db: { image: `postgres@${DIGEST}` } }
    expect(problems({ a: { container: `node@${DIGEST}`, services } })).toEqual([])
    expect(problems({ a: { container: 'node:24' } })).toHaveLength(1)
    expect(problems({ a: { services: { db: { image: 'postgres:17' } } } })).toHaveLength(1)
  })

  test.each([
    ['a digest', `BASE=example.com/node@${DIGEST}`, 0],
    ['what a job has found', `BASE=\${{ needs.base.outputs.image }}\nVERSION=1`, 0],
    ['what a job has not checked', `BASE=\${{ needs.other.outputs.image }}`, 1],
    ['a tag', 'BASE=example.com/node:24', 1],
    ['nothing', 'VERSION=1', 1],
  ])('built on %s counts so', (_what, args, count) => {
    const image = { steps: [{ uses: build, with: { 'build-args': args } }] }
    expect(problems({ base: found, other: { steps: [{ run: 'true' }] }, image })).toHaveLength(count)
  })

  test('that a Dockerfile starts from by a tag is found', () => {
    expect(problems({}, 'FROM node:24\n')).toHaveLength(1)
    expect(problems({}, `FROM node@${DIGEST}\nFROM scratch\n`)).toEqual([])
  })

  test('is in the chart by digest', () => {
    expect(problems({ a: { steps: [{ run: 'helm package charts/culvert' }] } })).toHaveLength(1)
    const run = "yq --inplace '.image.digest = strenv(DIGEST)' values.yaml\nhelm package charts/culvert"
    expect(problems({ a: { steps: [{ run }] } })).toEqual([])
  })
})
