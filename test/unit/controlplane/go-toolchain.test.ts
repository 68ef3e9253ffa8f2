import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  goEnvironment,
  goRemedies,
  isAtLeast,
  MINIMUM_GO,
  parseGoVersion,
  requireGo,
} from '../../../controlplane/go-toolchain.ts'
import { runProgram } from '../../../controlplane/run-program.ts'

const answering =
  (stdout: string, code = 0) =>
  () =>
    Promise.resolve({ code, stdout, stderr: code === 0 ? '' : stdout })

describe('the version of Go', () => {
  it.each([
    ['go1.26.8\n', { major: 1, minor: 26 }],
    ['go version go1.26.8 linux/amd64', { major: 1, minor: 26 }],
    ['go1.27rc1', { major: 1, minor: 27 }],
    ['devel go1.28-0f4b2b3 Mon Aug 3 10:00:00 2026 +0000', { major: 1, minor: 28 }],
  ])('is read from %j', (text, version) => {
    expect(parseGoVersion(text)).toEqual(version)
  })

  it.each(['', 'gccgo 12', 'cargo1 26', 'go 1.26'])('is not found in %j', (text) => {
    expect(parseGoVersion(text)).toBeUndefined()
  })

  it('is ordered by number, not by text', () => {
    const version = fc.record({ major: fc.nat(30), minor: fc.nat(120) })
    const rank = (value: { major: number; minor: number }): number => value.major * 1000 + value.minor
    fc.assert(fc.property(version, version, (a, b) => isAtLeast(a, b) === rank(a) >= rank(b)))
  })
})

describe('looking for Go', () => {
  it('accepts the oldest release that will do', async () => {
    expect(await requireGo(answering('go1.26.0\n'))).toEqual(MINIMUM_GO)
  })

  it('names the remedies when there is none', async () => {
    const error = await requireGo((args) => runProgram('/nonexistent/go', args)).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'GO_MISSING', cause: { code: 'ENOENT' } })
    expect(String(error)).toContain(goRemedies())
  })

  it.each([
    ['an old release', answering('go1.21.13\n')],
    ['one that cannot fetch the release that the module asks for', answering('go: toolchain not available', 1)],
    ['one whose answer makes no sense', answering('hello')],
  ])('refuses %s and names the remedies', async (_name, runGo) => {
    const error = await requireGo(runGo).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'GO_TOO_OLD' })
    expect(String(error)).toContain(goRemedies())
  })

  it('offers a newer Go and a cluster that exists already', () => {
    expect(goRemedies()).toContain('https://go.dev/dl/')
    expect(goRemedies()).toContain('--kubeconfig')
  })
})

describe('the environment of Go', () => {
  it('keeps what the caller sets, except a workspace and a C compiler', () => {
    const set = { GOGC: '50', GOMEMLIMIT: '256MiB', GOPROXY: 'off', GOWORK: '/work', CGO_ENABLED: '1' }
    expect(goEnvironment(set)).toMatchObject({ ...set, GOWORK: 'off', CGO_ENABLED: '0' })
  })

  it('has the flags of the caller after its own, so that they win', () => {
    expect(goEnvironment({ GOFLAGS: '-p=1' }).GOFLAGS).toMatch(/ -p=1$/)
    expect(goEnvironment({}).GOFLAGS).toMatch(/[^ ]$/)
  })
})
