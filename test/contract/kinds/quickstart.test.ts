import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { RemoteObject } from '../../../src/api/types.ts'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { AccountSpec } from '../../../src/managed/descriptor/account.ts'
import type { CommonSpec } from '../../../src/managed/descriptor/common.ts'
import { ApiClient } from '../../builders/contract/api-client.ts'
import { EmulatedLife, markedMetadata, type Surroundings } from '../../builders/emulated-life.ts'

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: CommonSpec
}

const folder = join(import.meta.dirname, '..', '..', '..', 'examples', 'quickstart')
const manifests = globSync(join(folder, '*.yaml'))
  .sort((a, b) => a.localeCompare(b))
  .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Manifest))
const managed = manifests.flatMap((manifest) => {
  const descriptor = kinds.find(({ definition }) => definition.kind === manifest.kind)
  return descriptor?.role === 'managed' ? [{ manifest, descriptor }] : []
})

let emulator: Awaited<ReturnType<typeof startEmulator>>
let api: ApiClient
const objects = new Map<string, RemoteObject>()

beforeAll(async () => {
  emulator = await startEmulator({ certSeconds: 1 })
  api = new ApiClient(emulator.url, emulator.apiKey)
})

afterAll(() => emulator.close())

const around: Surroundings = {
  target: (kind, { name, id }) => {
    const object = objects.get(`${kind}/${name}`)
    return { id: id ?? object?.id ?? `no ${kind}/${name} before`, object }
  },
  input: (key) => `what ${key} holds`,
}

test('the quickstart uses every kind that declares something', () => {
  const used = new Set(manifests.map(({ kind }) => kind))
  const declaring = kinds.filter(({ role }) => role === 'managed' || role === 'account')
  expect(declaring.map(({ definition }) => definition.kind).filter((kind) => !used.has(kind))).toEqual([])
})

test('the quickstart has an account for every kind that mirrors, which says so', () => {
  const mirrors = kinds.filter((descriptor) => descriptor.role === 'mirror')
  const accounts = new Set(kinds.filter(({ role }) => role === 'account').map(({ definition }) => definition.kind))
  const specs = manifests.filter(({ kind }) => accounts.has(kind)).map(({ spec }) => spec as unknown as AccountSpec)
  for (const { settings } of mirrors) expect(specs.some((spec) => settings(spec)?.enabled)).toBe(true)
})

test('every resource of the quickstart is taken as it is and needs no second look, in the order of its files', async () => {
  for (const { manifest, descriptor } of managed) {
    const { kind, metadata, spec } = manifest
    expect(descriptor.problems(spec)).toEqual([])
    const life = new EmulatedLife(api, descriptor, around)
    await life.settle(spec)
    const { object } = await life.shown()
    if (descriptor.identity.markedBy === 'metadata') expect(object.metadata).toBe(markedMetadata(spec))
    objects.set(`${kind}/${metadata.name}`, object)
  }
})
