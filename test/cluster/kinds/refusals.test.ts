import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createKubectl } from '../../../controlplane/kubectl.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { kindTests } from '../../kinds/index.ts'
import { acceptedSpec, nightlyUnlessVaried } from '../../kinds/lookup.ts'
import { type KubeManifest, KubeUser } from '../support/kube-user.ts'
import '../provided.ts'

/** A spec that must be refused: at creation, or as a change of `before`. */
const refusedSpecs = kindTests.flatMap(({ kind, accepted, refusals }) =>
  refusals.map(({ because, change, before, message }) => {
    const former = before === undefined ? undefined : { ...accepted, ...before }
    return { kind, because, before: former, spec: { ...accepted, ...former, ...change }, message }
  }),
)

const namespace = `refusals-${systemRandom.hex(4)}`
let folder = ''
let administrator: KubeUser

beforeAll(async () => {
  administrator = await KubeUser.of(inject('kubeconfigPath'))
  folder = await mkdtemp(join(tmpdir(), 'culvert-refusals-'))
  await expectDone(['create', 'namespace', namespace])
})

afterAll(async () => {
  administrator[Symbol.dispose]()
  await expectDone(['delete', 'namespace', namespace, '--wait=false'])
  await rm(folder, { recursive: true, force: true })
})

function kubectl(args: readonly string[], stdin = '') {
  const settings = { path: inject('kubectlPath'), kubeconfig: inject('kubeconfigPath'), cacheFolder: folder }
  return createKubectl(settings).run(args, { stdin })
}

async function expectDone(args: readonly string[], stdin?: string): Promise<void> {
  const { code, stderr } = await kubectl(args, stdin)
  expect(code, stderr).toBe(0)
}

function manifestOf(kind: string, name: string, spec: unknown): KubeManifest {
  const { group, version, scope } = definitionOf(kind)
  const metadata = scope === 'Namespaced' ? { name, namespace } : { name }
  return { apiVersion: `${group}/${version}`, kind, metadata, spec }
}

function manifest(kind: string, name: string, spec: unknown): string {
  return JSON.stringify(manifestOf(kind, name, spec))
}

function definitionOf(kind: string) {
  const descriptor = kinds.find(({ definition }) => definition.kind === kind)
  if (descriptor === undefined) throw new Error(`no kind ${kind}`)
  return descriptor.definition
}

/** What the API server says against the spec. */
async function refusal({ kind, before, spec }: (typeof refusedSpecs)[number]): Promise<string> {
  const name = `refused-${systemRandom.hex(6)}`
  const refused = manifestOf(kind, name, spec)
  if (before === undefined) return administrator.creating(refused)
  const existing = manifestOf(kind, name, before)
  expect(await administrator.create(existing)).toBe('')
  const said = await administrator.replace(refused)
  expect(await administrator.delete(existing)).toBe('')
  return said
}

test.concurrent.each(kindTests)('a $kind that keeps every rule is taken', async ({ kind, accepted }) => {
  await expectDone(['apply', '--dry-run=server', '-f', '-'], manifest(kind, 'accepted', accepted))
})

describe('refused, with field and remedy, is', () => {
  test.concurrent.each(refusedSpecs)('$kind $because', async (refused) => {
    expect(await refusal(refused)).toContain(refused.message)
  })
})

const ofEachKind = kindTests.flatMap(({ kind }) => {
  return refusedSpecs.find((refused) => refused.kind === kind && refused.before === undefined) ?? []
})

for (const { kind, because, spec, message } of ofEachKind) {
  test.concurrent(`kubectl passes on what is said against ${kind} ${because}`, {
    tags: nightlyUnlessVaried(kind),
  }, async () => {
    const { code, stderr } = await kubectl(['apply', '--dry-run=server', '-f', '-'], manifest(kind, 'refused', spec))
    expect(code).toBe(1)
    expect(stderr).toContain(message)
  })
}

test('every rule of every kind has a spec that breaks it', () => {
  const untried = kinds.flatMap(({ definition }) => {
    const tried = refusedSpecs.filter(({ kind }) => kind === definition.kind).map(({ message }) => message)
    const messages = rulesIn(toStructural(definition.spec, 'spec'))
    return [...new Set(messages)]
      .filter((message) => !tried.some((part) => message.startsWith(part)))
      .map((message) => `${definition.kind}: ${message}`)
  })
  expect(untried).toEqual([])
})

test('a resource that holds an object keeps its externalID, or takes the id of that object', async () => {
  const spec = { ...acceptedSpec('Backend'), managementPolicy: 'Observe' }
  const named = (externalID: string) => manifest('Backend', 'naming', { ...spec, externalID })
  await expectDone(['apply', '-f', '-'], named('x_1'))
  await expectDone(['apply', '-f', '-'], named('x_2'))
  const status = { status: { id: 'x_3', internal: { create: { nonce: 'of-a-create', attempt: 1 } } } }
  const target = ['backends.culvert.dev', 'naming', '-n', namespace]
  await expectDone(['patch', ...target, '--subresource=status', '--type=merge', '-p', JSON.stringify(status)])
  for (const refused of [named('x_1'), manifest('Backend', 'naming', spec)]) {
    const { code, stderr } = await kubectl(['apply', '-f', '-'], refused)
    expect(`${code} ${stderr}`).toMatch(/^1 .*spec\.externalID is immutable once this resource manages an object/s)
  }
  await expectDone(['apply', '-f', '-'], named('x_3'))
  await expectDone(['delete', ...target])
})

function rulesIn(node: SchemaNode): readonly string[] {
  const own = (node['x-kubernetes-validations'] ?? []).map(({ message }) => message)
  const below = [...Object.values(node.properties ?? {}), node.items, node.additionalProperties]
  return [...own, ...below.flatMap((child) => (child === undefined ? [] : rulesIn(child)))]
}
