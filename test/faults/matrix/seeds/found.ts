import { statusOf } from '../../../../src/managed/cr.ts'
import type { WithOutput } from '../../../builders/output-of-spec.ts'
import { leaveObject } from '../../simulation/adoption/found.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'
import type { Role } from './roles.ts'

type Fields = Readonly<Record<string, unknown>>

export type Mode = 'Manage' | 'Observe'

/** Reasons for which a resource that names an object by id may wait. */
export const REFUSALS: readonly string[] = ['Observed', 'NotAdoptable', 'TakenOver']
/**
 * A policy's rules carry the marker of the resource that created them: those of a resource that released the policy are
 * reported.
 */
export const LEFT_RULES = 6
/** Longest time until a resource is gone. Virtual milliseconds. */
const FAREWELL_MS = 5 * 60_000

/** An object from before the story, which one resource of the cast and perhaps a rival name by its id. */
export class Found {
  readonly #world: SimulatedWorld
  readonly #role: Role
  readonly #path: string
  readonly #id: string
  #mode: Mode = 'Manage'
  #rivalMode: Mode = 'Manage'
  /** The object, and those that its resource made after it and then only observed: they stay when the resource goes. */
  readonly #kept: Set<string>

  private constructor(world: SimulatedWorld, role: Role, place: { readonly path: string; readonly id: string }) {
    this.#world = world
    this.#role = role
    this.#path = place.path
    this.#id = place.id
    this.#kept = new Set([place.id])
  }

  static async make(world: SimulatedWorld, role: Role): Promise<Found> {
    const { kind, name, versions } = role
    return new Found(world, role, await leaveObject(world, { kind, name, spec: versions[0] ?? {} }))
  }

  /** Whether the account still has it. */
  get isThere(): boolean {
    return this.#isThere(this.#id)
  }

  #isThere(wanted: string): boolean {
    const { accounts } = this.#world.api.emulator.admin.snapshot()
    return Object.values(accounts).some(({ objects }) => (objects[this.#path] ?? []).some(({ id }) => id === wanted))
  }

  set mode(mode: Mode) {
    this.#mode = mode
  }

  /** The resource's spec for it. A resource that manages the object deletes it in the end. */
  specFor(version: number): Fields {
    return {
      ...this.#role.versions[version],
      ...this.#naming(this.#role.name),
      managementPolicy: this.#mode,
      deletionPolicy: 'Delete',
    }
  }

  /** Applies the resource; if it is created while the object exists, it names the object. */
  apply(version: number): void {
    const { kind, name } = this.#role
    const present = this.#world.get(kind, name)
    const id = present && statusOf(present).id
    if (this.#mode === 'Observe' && id !== undefined) this.#kept.add(id)
    this.#world.apply(kind, name, this.specFor(version))
  }

  /** Another resource of that kind names the same object; it retains the object when it is deleted. */
  comeRival(mode: Mode, version: number): void {
    this.#rivalMode = mode
    const spec = {
      ...elsewhere(this.#role.versions[version] ?? {}),
      ...this.#naming(this.#rivalName),
      managementPolicy: this.#rivalMode,
      deletionPolicy: 'Retain',
    }
    if (this.#rival() !== undefined || this.isThere) this.#world.apply(this.#role.kind, this.#rivalName, spec)
  }

  rivalGoes(): void {
    if (this.#rival() !== undefined) this.#world.delete(this.#role.kind, this.#rivalName)
  }

  /**
   * The resource is deleted and created again without naming the object, as its condition advises when the object is
   * missing.
   */
  async comeAnew(version: number): Promise<void> {
    const { kind, name } = this.#role
    this.#world.delete(kind, name)
    await this.#world.until(() => this.#world.get(kind, name) === undefined, FAREWELL_MS)
    this.apply(version)
  }

  /** Removes the rivals, and deletes what is kept by hand if no resource should have it any more. */
  async end(isWanted: boolean): Promise<void> {
    this.rivalGoes()
    await this.#world.until(() => this.#rival() === undefined, FAREWELL_MS)
    if (isWanted) return
    const { kind, name } = this.#role
    await this.#world.until(() => this.#world.get(kind, name) === undefined, FAREWELL_MS)
    for (const id of this.#kept) {
      if (this.#isThere(id)) await this.#world.api.ask('DELETE', `/${this.#path}/${id}`)
    }
  }

  get #rivalName(): string {
    return `${this.#role.name}-rival`
  }

  #rival() {
    return this.#world.get(this.#role.kind, this.#rivalName)
  }

  /** A resource that names the object continues to; a new one does while the object exists. */
  #naming(name: string): Fields {
    const cr = this.#world.get(this.#role.kind, name)
    const names = cr === undefined ? this.isThere : cr.spec.externalID !== undefined
    return names ? { externalID: this.#id } : {}
  }
}

/** With outputs of its own: an output that one resource retains with its object stays, and no other takes it over. */
function elsewhere(spec: Fields): Fields {
  const { output } = spec as WithOutput
  if (output === undefined) return spec
  const places = Object.entries(output).map(([member, place]) => [member, { ...place, name: `${place.name}-of-rival` }])
  return { ...spec, output: Object.fromEntries(places) }
}
