import { configMapType } from '../../../src/managed/inputs.ts'
import { markerOf } from '../../../src/managed/marker.ts'
import type { Resource } from '../../builders/contract/api-client.ts'
import type { Shown } from '../../builders/emulated-life.ts'
import { meaningOf } from '../../builders/meaning.ts'
import type { Spec } from '../../builders/schema-specs.ts'
import { INPUTS } from '../../builders/spec-places.ts'
import { headersOf, KEY } from './api-server.ts'
import { Oracle } from './oracle.ts'
import { FAMILY_SEED, type Family } from './spec-families.ts'
import { type Laboratory, NAMESPACE, type SimulatedWorld } from './world.ts'

/** Name of the resource whose spec changes. */
const NAME = 'subject'

/** A world with what a family refers to, in which one resource is given specs of the family. */
export class FamilyWorld {
  readonly world: SimulatedWorld
  readonly oracle: Oracle
  readonly #family: Family
  /** Specs that it was given since it was last at rest, that one's included: edges keep what all of these have. */
  #since: readonly Spec[] = []

  private constructor(world: SimulatedWorld, oracle: Oracle, family: Family) {
    this.world = world
    this.oracle = oracle
    this.#family = family
  }

  static async open(laboratory: Laboratory, family: Family, seed: number): Promise<FamilyWorld> {
    const { kinds, needs } = family
    const world = laboratory.world({ seed, kinds })
    world.api.emulator.admin.seed(FAMILY_SEED)
    for (const name of ['inputs', 'others']) {
      world.putSecret(name, INPUTS)
      world.server.create(configMapType, { namespace: NAMESPACE, name }, { data: INPUTS })
    }
    const oracle = await Oracle.watch(world)
    for (const { kind, name, spec } of needs) world.apply(kind, name, spec)
    return new FamilyWorld(world, oracle, family)
  }

  /** Gives the resource this spec. */
  apply(spec: Spec): void {
    const { kind } = this.#family.descriptor.definition
    this.oracle.specChanges(kind, NAME, spec, this.#since)
    this.#since = [...this.#since, spec]
    this.world.apply(kind, NAME, spec)
  }

  /** Lets everything come to rest; what is not at rest in time. */
  async untilRest(): Promise<readonly string[]> {
    const unrest = await this.oracle.untilRest()
    if (unrest.length === 0) this.#since = this.#since.slice(-1)
    return unrest
  }

  /** Until operators have sent so many more writes, or for so many milliseconds. */
  async untilWrites(count: number, ms: number): Promise<void> {
    const { length } = this.oracle.writes
    await this.world.until(() => this.oracle.writes.length >= length + count, ms)
  }

  /** Deletes every resource, and lets go of no object. */
  deleteAll(): void {
    const { kind } = this.#family.descriptor.definition
    const { deletionPolicy: _, ...spec } = this.#since.at(-1) ?? {}
    this.world.apply(kind, NAME, spec)
    for (const { kind, metadata } of this.world.all()) this.world.delete(kind, metadata.name)
  }

  /**
   * What has come of the spec that the resource has: what its object means by the contract, what was put into Secrets and ConfigMaps, and the conditions. Two
   * resources with one spec have this in common, whatever they were before; by what else they differ is how the API is told the same
   * (a module that is taken out is disabled, since no update can remove it).
   */
  async shown(spec: Spec): Promise<unknown> {
    const { world } = this
    const { descriptor } = this.#family
    const cr = world.get(descriptor.definition.kind, NAME)
    const place = cr === undefined ? undefined : world.placeOf(cr)
    if (cr === undefined || place === undefined) return 'no object'
    const answer = await world.api.answer({
      method: 'GET',
      path: `/${place.path}/${place.id}`,
      headers: headersOf(KEY),
      body: '',
    })
    if (answer.status !== 200) return `no object: ${answer.body}`
    const object = JSON.parse(answer.body) as Resource
    const children = await this.#children(place.id)
    const { uid } = cr.metadata
    const target = Object.values(world.api.emulator.admin.snapshot().accounts)
      .flatMap(({ objects }) => objects[place.path] ?? [])
      .find(({ id }) => id === place.id)?.target
    const shown = { object: unmarked(object, uid), children: children.map((child) => unmarked(child, uid)) }
    const { named, beside } = (await this.#named({ named: shown, beside: [target, this.#outputs(uid)] })) as {
      readonly named: Shown
      readonly beside: unknown
    }
    const conditions = cr.status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
    return { ...(meaningOf(spec, named) as Spec), beside, conditions: conditions?.toSorted(byText) }
  }

  async #children(parent: string): Promise<Shown['children']> {
    const { children } = this.#family.descriptor
    if (children === undefined) return []
    const { path, listKey } = children.collection
    const all = (await this.world.api.ask('GET', `/${path}?limit=100`))[listKey] as Shown['children']
    return all.filter((child) => children.parentId(child) === parent)
  }

  /** Which keys of what the resource has filled, and what else stands beside it. */
  #outputs(uid: string): readonly unknown[] {
    return this.world.kube
      .everything()
      .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
      .map(({ kind, metadata, data, spec }) => [
        `${kind}/${metadata.name}`,
        Object.keys(data ?? {}).toSorted(byText),
        spec,
      ])
      .toSorted(([left], [right]) => byText(String(left), String(right)))
  }

  /** With names in the place of ids, and of what the service has chosen for an id. */
  async #named(value: unknown): Promise<unknown> {
    let text = JSON.stringify(value)
    const { reserved_addrs: addresses } = await this.world.api.ask('GET', '/reserved_addrs?limit=100')
    for (const { id, addr } of addresses as readonly Resource[])
      text = text.replaceAll(String(addr), `address of ${id}`)
    for (const cr of this.world.all()) {
      const id = this.world.placeOf(cr)?.id
      if (id !== undefined) text = text.replaceAll(id, `${cr.kind}/${cr.metadata.name}`)
    }
    return JSON.parse(text.replaceAll(/usr_[0-9A-Za-z]{27}/g, 'the administrator'))
  }
}

/** With a word in the place of the mark, which tells attempts apart. */
function unmarked(object: Resource, uid: string): Resource {
  const marker = markerOf(object)
  if (marker === undefined) return object
  const owner = marker.uid === uid ? '' : `${marker.uid}, in place of `
  return { ...object, metadata: `mark of ${owner}${marker.kind}/${marker.name}` }
}

function byText(left: string, right: string): number {
  return left < right ? -1 : Number(left > right)
}
