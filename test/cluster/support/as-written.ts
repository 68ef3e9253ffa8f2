import { expect } from 'vitest'
import { at } from '../../builders/emulator-client.ts'
import type { Manifest, Surrounding } from '../../kinds/kind-test-data.ts'
import { type SpecCase, specTitled } from '../../kinds/lookup.ts'
import { managed, subjectsOf } from './cases.ts'
import type { Resource, World } from './world.ts'

type Body = Readonly<Record<string, unknown>>

/** One case with its CR. */
export interface Subject extends Manifest {
  readonly title: string
  /** Collection of its object. */
  readonly path: string
}

/** A subject whose object no longer matches its first spec. */
export interface LivedSubject extends Subject {
  /** Name that the spec was built for, if it differs from the CR's. */
  readonly specName?: string
  /** Fields of the object that differ by now. */
  readonly changes?: Body
  /** The rules of a policy, if they differ by now. */
  readonly rules?: readonly Body[]
}

/** The CRs of the cases. */
export function subjects(chosen: readonly SpecCase[], suffix: string): readonly Subject[] {
  return subjectsOf(chosen, suffix).map((manifest, index) => {
    return { ...manifest, title: chosen[index]?.title ?? '', path: pathOfObjects(manifest) }
  })
}

/** Path of the collection of the CR's object. */
export function pathOfObjects({ kind, spec }: Manifest): string {
  const descriptor = managed.find(({ definition }) => definition.kind === kind)
  if (descriptor === undefined) throw new Error(`there is no kind ${kind}`)
  return descriptor.identity.collectionOf(spec as never).path
}

/** The values that an expectation may use, from the world's current CRs. */
export async function surrounding(world: World): Promise<Omit<Surrounding, 'name'>> {
  const crs = new Map<string, Resource>()
  for (const { definition } of managed) {
    for (const cr of await world.list(definition.kind)) crs.set(`${definition.kind}/${cr.metadata.name}`, cr)
  }
  const status = (key: string) => crs.get(key)?.status ?? {}
  const [boot] = (await world.remote('api_keys')).toReversed()
  return {
    id: (kind, name) => String(status(`${kind}/${name}`).id),
    addr: (name) => String(status(`ReservedAddress/${name}`).addr),
    ownUser: String(boot?.owner_id),
  }
}

/**
 * Compares what the API shows of each subject, and what it stores without showing, with what is written down for its
 * spec.
 */
export async function expectAsWritten(world: World, all: readonly LivedSubject[]): Promise<void> {
  const around = await surrounding(world)
  const held = await world.remote('ip_policy_rules')
  const kept = Object.values(world.emulator.admin.snapshot().accounts).map(({ objects }) => objects)
  for (const { kind, name, title, path, specName = name, changes = {}, rules } of all) {
    const about = `${kind}/${name}`
    const id = around.id(kind, name)
    const written = specTitled(kind, title)
    const expected = { ...written.object({ ...around, name: specName }), ...changes }
    expect((await world.api.get(`/${path}/${id}`)).body, about).toEqual(expected)
    const own = held.filter((rule) => kind === 'IPPolicy' && at(rule, 'ip_policy', 'id') === id)
    const shown = own.map(({ id: _id, uri: _uri, created_at: _at, ip_policy: _policy, ...rule }) => rule)
    const wanted = rules ?? written.rules ?? []
    expect(shown, about).toHaveLength(wanted.length)
    expect(shown, about).toEqual(expect.arrayContaining([...wanted]))
    const stored = kept.flatMap((objects) => objects[path] ?? []).find((object) => object.id === id)
    for (const [place, value] of written.hidden ?? []) {
      expect(at(stored, ...place.split('.')), `${about} ${place}`).toBe(value)
    }
  }
}
