import { configMapType } from '../../../src/kube/core-types.ts'
import type { Spec } from '../../builders/schema-specs.ts'
import { UNNAMED_SEED } from '../../kinds/lookup.ts'
import { INPUTS } from '../../kinds/shared/account.ts'
import { keptRules, meaningAt } from './meaning-at.ts'
import { Oracle } from './oracle.ts'
import type { Family } from './spec-families.ts'
import { type Laboratory, NAMESPACE, type SimulatedWorld } from './world.ts'

/** Name of the resource whose spec changes. */
const NAME = 'subject'

/** A world with the dependencies of a family, in which one resource is given specs of the family. */
export class FamilyWorld {
  readonly world: SimulatedWorld
  readonly oracle: Oracle
  readonly #family: Family
  /** Specs given since it was last at rest, the spec of that rest included: edges keep what all of these have. */
  #since: readonly Spec[] = []

  private constructor(world: SimulatedWorld, oracle: Oracle, family: Family) {
    this.world = world
    this.oracle = oracle
    this.#family = family
  }

  static async open(laboratory: Laboratory, family: Family, seed: number): Promise<FamilyWorld> {
    const { kinds, needs } = family
    const world = laboratory.world({ seed, kinds })
    world.api.emulator.admin.seed(UNNAMED_SEED)
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

  /** Waits until everything is at rest; returns what is not in time. */
  async untilRest(): Promise<readonly string[]> {
    const unrest = await this.oracle.untilRest()
    if (unrest.length === 0) this.#since = this.#since.slice(-1)
    return unrest
  }

  /** Waits until operators have sent that many more writes, or for that many milliseconds. */
  async untilWrites(count: number, ms: number): Promise<void> {
    const { length } = this.oracle.writes
    await this.world.until(() => this.oracle.writes.length >= length + count, ms)
  }

  /** Judges the world. */
  async judge(): Promise<readonly string[]> {
    const { kind } = this.#family.descriptor.definition
    this.oracle.allow({ others: new Set(await keptRules(this.world, kind, NAME)) })
    return await this.oracle.judge()
  }

  /** Deletes every resource, and retains no object. */
  deleteAll(): void {
    const { kind } = this.#family.descriptor.definition
    const { deletionPolicy: _, ...spec } = this.#since.at(-1) ?? {}
    this.world.apply(kind, NAME, spec)
    for (const { kind, metadata } of this.world.all()) this.world.delete(kind, metadata.name)
  }

  /** The result of the resource's spec. */
  shown(spec: Spec): Promise<unknown> {
    return meaningAt(this.world, { kind: this.#family.descriptor.definition.kind, name: NAME, spec })
  }
}
