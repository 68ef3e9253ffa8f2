import { beforeEach, describe, expect, test } from 'vitest'
import { KubeError } from '../../../../src/kube/kube-error.ts'
import type { KubeObject, ObjectKey, PatchOptions, ResourceType } from '../../../../src/kube/types.ts'
import { ComposedReconciler } from '../../../../src/managed/composed/composed-reconciler.ts'
import type { ComposedKind, Composition, OwnedPart, Step } from '../../../../src/managed/composed/composition.ts'
import type { Role, WantedObject } from '../../../../src/managed/composed/wanted.ts'
import { ownershipOf } from '../../../../src/managed/ownership.ts'
import { TerminalError } from '../../../../src/managed/run/control-flow-errors.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'
import { ModelKube } from '../../../builders/model-kube.ts'

type Fields = Readonly<Record<string, unknown>>

function typeOf(kind: string, plural: string): ResourceType {
  return { group: 'example.com', version: 'v1', plural, kind, namespaced: true }
}

const gateways = typeOf('Gateway', 'gateways')
const types: Readonly<Record<'place' | 'entry', ResourceType>> = {
  place: typeOf('Address', 'addresses'),
  entry: typeOf('Listener', 'listeners'),
}
const KEY = { namespace: 'shop', name: 'web' }
const NAME = { kind: 'Gateway', ...KEY }

function wanted(role: 'place' | 'entry', name: string): WantedObject & { readonly role: Role } {
  const metadata = { labels: { owner: 'web' }, annotations: {} }
  return { type: types[role], role, name, ...metadata, content: { spec: { of: name } } }
}

function keep(role: 'place' | 'entry', name: string): Step {
  return { do: 'keep', wanted: wanted(role, name) }
}

/** A kind of owners that is neither a Tunnel nor a Service, on an API server in memory. */
class Gateways {
  readonly kube = new ModelKube()
  readonly writes: string[] = []
  readonly events: string[] = []
  composition: Composition = { courses: [], surplus: [] }
  isServed = true
  /** Names that the API server refuses. */
  refused: readonly string[] = []
  readonly #reconciler: ComposedReconciler<KubeObject, Composition>

  constructor() {
    const { kube } = this
    const kind: ComposedKind<KubeObject> = {
      find: (name) => kube.get(gateways, name),
      typeOf: () => gateways,
      record: () => undefined,
      serving: {
        isServed: () => this.isServed,
        partsOf: () => this.parts,
        withdrawn: () => ({}),
      },
      compose: () => this.composition,
      report: ({ status }, result) => {
        const text = result.type === 'kept' ? result.type : result.message
        const condition = { type: 'Ready', reason: 'Any', message: text }
        return { status: { ...(status as Fields | undefined), conditions: [condition] } }
      },
    }
    const counted = <T>(what: string, name: string, write: () => T): Promise<T> => {
      if (this.refused.includes(name)) return Promise.reject(new KubeError('Forbidden', `${name} is refused`))
      const { revision } = kube
      const answer = write()
      if (kube.revision !== revision) this.writes.push(`${what} ${name}`)
      return Promise.resolve(answer)
    }
    this.#reconciler = new ComposedReconciler(kind, {
      kube: {
        get: async <T extends KubeObject>(type: ResourceType, key: ObjectKey) => kube.get<T>(type, key),
        create: <T extends KubeObject>(type: ResourceType, key: ObjectKey, body: Fields) => {
          return counted('create', key.name, () => kube.create<T>(type, key, body))
        },
        mergePatch: <T extends KubeObject>(type: ResourceType, key: ObjectKey, patch: Fields, of?: PatchOptions) => {
          return counted(of?.subresource ?? 'patch', key.name, () => kube.mergePatch<T>(type, key, patch, of))
        },
        delete: (type, key, options) => counted('delete', key.name, () => kube.delete(type, key, options)),
      },
      known: (type, key) => kube.get(type, key),
      record: () => undefined,
      events: { record: (_, { type, message }) => this.events.push(`${type}: ${message}`) },
      clock: new FakeClock(),
    })
    kube.create(gateways, KEY, {})
  }

  get parts(): readonly OwnedPart[] {
    return (['place', 'entry'] as const).flatMap((role) => {
      return this.kube.list(types[role]).items.map((stored) => ({ type: types[role], role, stored }))
    })
  }

  /** What is written by one reconcile. */
  async reconcile(): Promise<readonly string[]> {
    this.writes.length = 0
    this.outcome = await this.#reconciler.reconcile(NAME)
    return [...this.writes]
  }

  outcome: Awaited<ReturnType<ComposedReconciler<KubeObject, Composition>['reconcile']>> | undefined

  settle(name: string, observedGeneration = 1): void {
    const conditions = [{ type: 'Synced', status: 'True', observedGeneration }]
    this.kube.mergePatch(types.entry, { ...KEY, name }, { status: { conditions } }, { subresource: 'status' })
  }

  get status(): Fields | undefined {
    return this.kube.get<KubeObject & { status?: Fields }>(gateways, KEY)?.status
  }
}

let world: Gateways
beforeEach(() => {
  world = new Gateways()
})

describe('what an owner consists of', () => {
  test('is made in order, owned, and reported once; the second reconcile writes nothing', async () => {
    world.composition = { courses: [{ steps: [keep('place', 'a'), keep('entry', 'b')] }], surplus: [] }
    expect(await world.reconcile()).toEqual(['create a', 'create b', 'status web'])
    expect(await world.reconcile()).toEqual([])
    expect(world.outcome).toEqual({ type: 'done' })
    const owner = world.kube.get(gateways, KEY)
    expect(world.parts.map(({ stored }) => owner && ownershipOf(stored, owner).type)).toEqual(['own', 'own'])
  })

  test('is set back by one write when another client changes it', async () => {
    world.composition = { courses: [{ steps: [keep('entry', 'b')] }], surplus: [] }
    await world.reconcile()
    world.kube.mergePatch(types.entry, { ...KEY, name: 'b' }, { spec: { of: 'another', more: 1 } })
    expect(await world.reconcile()).toEqual(['patch b'])
    expect(world.parts.map(({ stored }) => stored.spec)).toEqual([{ of: 'b', more: 1 }])
    expect(await world.reconcile()).toEqual([])
  })

  test('is made although another course fails, which one Warning reports', async () => {
    const message = 'no listener fits'
    world.composition = {
      courses: [
        { steps: [keep('entry', 'refused'), keep('entry', 'after')] },
        { steps: [keep('entry', 'b')], unfinished: new TerminalError('Rejected', message) },
        { steps: [keep('entry', 'c')] },
      ],
      surplus: [],
    }
    world.refused = ['refused']
    expect(await world.reconcile()).toEqual(['create b', 'create c', 'status web'])
    expect(world.outcome).toMatchObject({ type: 'backoff', error: { code: 'Forbidden' } })
    expect(world.events).toEqual(['Warning: refused is refused'])
    expect(await world.reconcile()).toEqual([])
    world.refused = []
    expect(await world.reconcile()).toEqual(['create refused', 'create after', 'status web'])
    expect(world.outcome).toMatchObject({ type: 'after', ms: 600_000 })
    expect(world.events).toEqual(['Warning: refused is refused', `Warning: ${message}`])
  })

  test('is recorded before it is made, where it must be', async () => {
    const record: Step = { do: 'record', status: { key: 'b' } }
    world.composition = { courses: [{ steps: [record, keep('entry', 'b')] }], surplus: [] }
    world.refused = ['b']
    await world.reconcile()
    expect(world.status).toMatchObject({ key: 'b' })
    world.refused = []
    expect(await world.reconcile()).toEqual(['create b', 'status web'])
    expect(world.status).toMatchObject({ key: 'b', conditions: [{ message: 'kept' }] })
  })
})

describe('what an owner no longer needs', () => {
  test('is deleted; a place only when every entry is Synced for its current spec', async () => {
    const steps = [keep('place', 'a'), keep('entry', 'b'), keep('place', 'old'), keep('entry', 'former')]
    world.composition = { courses: [{ steps }], surplus: [] }
    await world.reconcile()
    const surplus = world.parts.filter(({ stored }) => ['old', 'former'].includes(stored.metadata.name))
    world.composition = { courses: [{ steps: steps.slice(0, 2) }], surplus }
    expect(await world.reconcile()).toEqual(['delete former'])
    world.settle('b', 0)
    expect(await world.reconcile()).toEqual([])
    world.settle('b')
    expect(await world.reconcile()).toEqual(['delete old'])
  })

  test('stays if another object of that name has taken its place', async () => {
    world.kube.create(types.place, { ...KEY, name: 'a' }, { metadata: { labels: { owner: 'somebody' } } })
    world.composition = { courses: [], surplus: world.parts }
    expect(await world.reconcile()).toEqual(['status web'])
    expect(world.parts).toHaveLength(1)
  })

  test('is everything once Culvert no longer serves the owner, whose status is cleared first', async () => {
    world.composition = { courses: [{ steps: [keep('place', 'a'), keep('entry', 'b')] }], surplus: [] }
    await world.reconcile()
    world.isServed = false
    expect(await world.reconcile()).toEqual(['status web', 'delete a', 'delete b'])
    expect(world.status).toEqual({})
    expect(await world.reconcile()).toEqual([])
  })
})

test('an owner that is paused or being deleted is left alone', async () => {
  world.composition = { courses: [{ steps: [keep('entry', 'b')] }], surplus: [] }
  world.kube.mergePatch(gateways, KEY, { metadata: { annotations: { 'culvert.dev/paused': 'true' } } })
  expect(await world.reconcile()).toEqual([])
  world.kube.mergePatch(gateways, KEY, { metadata: { annotations: null, finalizers: ['example.com/wait'] } })
  world.kube.delete(gateways, KEY)
  expect(await world.reconcile()).toEqual([])
})
