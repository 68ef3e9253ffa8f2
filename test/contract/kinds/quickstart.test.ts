import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Collection, RemoteObject } from '../../../src/api/types.ts'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { type Operation, plan, planCreate } from '../../../src/managed/plan.ts'
import type { CommonSpec, Ref } from '../../../src/managed/types/common.ts'
import type { Desired, Fields, ManagedDescriptor } from '../../../src/managed/types/descriptor.ts'
import { ApiClient, type Resource } from '../../builders/contract/api-client.ts'

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

function desiredOf(spec: CommonSpec, status: Fields): Desired<CommonSpec> {
  const target = (kind: string, { name, id }: Ref) => {
    const object = objects.get(`${kind}/${name}`)
    return { id: id ?? object?.id ?? `no ${kind}/${name} before`, object }
  }
  return {
    spec,
    status,
    id: (kind, ref) => target(kind, ref).id,
    target,
    input: (_source, { name, key }) => `${name}-${key}`,
    now: Date.now(),
    marker: (nonce) => `marker ${nonce}`,
  }
}

interface Settled {
  readonly object: RemoteObject
  readonly left: readonly Operation[]
}

/** Creates the object with its children; answers it and what is left to do. */
async function settle(descriptor: ManagedDescriptor, spec: CommonSpec): Promise<Settled> {
  const collection = descriptor.collectionOf(spec)
  const created = await api.object(201, 'POST', `/${collection.path}`, planCreate(descriptor, desiredOf(spec, {}), 'm'))
  const desired = desiredOf(spec, descriptor.status(created, {}))
  for (const operation of await planned(descriptor, desired, collection, created.id)) {
    if (operation.type === 'replace') throw new Error('what was just created needs no replacement')
    if (!('target' in operation)) {
      // The marker has done its work: the user's own metadata, or name and activity, take its place.
      expect(operation.fields).toEqual(descriptor.markedBy === 'name' ? ['name', 'active'] : ['metadata'])
      await api.object(200, 'PATCH', `/${collection.path}/${created.id}`, operation.body)
    } else if (operation.type === 'create') {
      await api.object(201, 'POST', `/${descriptor.children?.collection.path}`, operation.body)
    }
  }
  return { object: created, left: await planned(descriptor, desired, collection, created.id) }
}

async function planned(
  descriptor: ManagedDescriptor,
  desired: Desired<CommonSpec>,
  collection: Collection,
  id: string,
): Promise<readonly Operation[]> {
  const remote = await api.object(200, 'GET', `/${collection.path}/${id}`)
  const children = descriptor.children === undefined ? [] : await childrenOf(descriptor.children.collection)
  const own = children.filter((child) => descriptor.children?.parentId(child) === id)
  return plan(descriptor, desired, { remote, children: own }, { defaultMetadata: 'm', inputsChanged: false })
}

async function childrenOf({ path, listKey }: Collection): Promise<readonly Resource[]> {
  const page = await api.call('GET', `/${path}`)
  return JSON.parse(page.text)[listKey]
}

test('the quickstart uses every kind', () => {
  const used = new Set(manifests.map(({ kind }) => kind))
  expect(kinds.map(({ definition }) => definition.kind).filter((kind) => !used.has(kind))).toEqual([])
})

test('every resource of the quickstart is taken as it is and needs no second look, in the order of its files', async () => {
  for (const { manifest, descriptor } of managed) {
    const { kind, metadata, spec } = manifest
    expect(descriptor.problems(spec)).toEqual([])
    const { object, left } = await settle(descriptor, spec)
    expect(left, `${kind}/${metadata.name}`).toEqual([])
    objects.set(`${kind}/${metadata.name}`, object)
  }
})
