import type { CustomResource } from '../../../../src/managed/cr.ts'
import { internalOf, statusOf } from '../../../../src/managed/cr.ts'
import { APPROVED_PLAN } from '../../../../src/managed/names.ts'
import type { Sighting } from '../faults.ts'
import { textOf } from '../oracle.ts'
import { isWrite, type SimulatedWorld } from '../world.ts'

/** How often the person looks at the resource. Virtual milliseconds. */
const LOOKS_MS = 2_000

/** Approves the plans of one resource, and watches that nothing else is sent for it. */
export class Person {
  readonly violations: string[] = []
  /** Generations for which plans were approved, by hash. */
  readonly #approved = new Map<string, number | undefined>()
  readonly #world: SimulatedWorld
  readonly #kind: string
  readonly #name: string
  /** Whether plans are approved as they appear. */
  isWilling: boolean = true

  constructor(world: SimulatedWorld, kind: string, name: string) {
    this.#world = world
    this.#kind = kind
    this.#name = name
    this.#look()
  }

  /** How many plans were approved. */
  get approvals(): number {
    return this.#approved.size
  }

  get resource(): CustomResource | undefined {
    return this.#world.get(this.#kind, this.#name)
  }

  /** Approves that plan. */
  approve(hash: string): void {
    this.#approved.set(hash, this.resource?.metadata.generation)
    this.#world.annotate(this.#kind, this.#name, { [APPROVED_PLAN]: hash })
  }

  /** Judges a request of an operator before it is sent. */
  sees(sighting: Sighting): void {
    const cr = this.resource
    if (cr === undefined || sighting.server !== 'api' || !isWrite(sighting) || !this.#concerns(cr, sighting.path))
      return
    const { plan = 'none' } = internalOf(cr).approved ?? {}
    const generation = this.#approved.get(plan)
    if (generation === cr.metadata.generation) return
    this.violations.push(`${textOf(sighting)} without approval: ${plan} of ${generation} at ${cr.metadata.generation}`)
  }

  #concerns({ spec }: CustomResource, path: string): boolean {
    const descriptor = this.#world.kinds.managedKind(this.#kind)
    const collections = [descriptor?.identity.collectionOf(spec), descriptor?.children?.collection]
    return collections.some((each) => each !== undefined && path.startsWith(`/${each.path}`))
  }

  #look(): void {
    const { resource } = this
    const plan = resource && statusOf(resource).plan
    if (this.isWilling && plan !== undefined && !this.#approved.has(plan.hash)) this.approve(plan.hash)
    this.#world.time.setTimer(LOOKS_MS, () => this.#look())
  }
}
