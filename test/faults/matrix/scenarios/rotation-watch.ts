import { expect } from 'vitest'
import { unresolvedAttempt } from '../../../../src/managed/cr.ts'
import { ROTATE_REQUESTED_AT } from '../../../../src/managed/names.ts'
import { idsIn, secretOf } from '../../simulation/scenario.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'

/** Collections of the kinds with tokens. */
export const PATHS = { APIKey: 'api_keys', TunnelCredential: 'credentials' } as const

/**
 * Checks a world after every write that a server carries out: once the Secret `ci` holds a token, it always holds one
 * that the API accepts, and there are never more than two objects.
 */
export class RotationWatch {
  readonly violations: string[] = []
  /** Every token that was in the Secret, in order. */
  readonly tokens: string[] = []
  /** Id of the object of the token in the Secret. */
  opened: string | undefined
  /** Ids of all objects, newest first. */
  ids: readonly string[] = []
  readonly #world: SimulatedWorld
  readonly #kind: keyof typeof PATHS

  private constructor(world: SimulatedWorld, kind: keyof typeof PATHS) {
    this.#world = world
    this.#kind = kind
    const { network } = world
    const { onDone } = network
    network.onDone = async (sighting, answer) => {
      await onDone(sighting, answer)
      const isConcerned = sighting.server === 'api' || sighting.path.includes('/secrets')
      if (sighting.method !== 'GET' && isConcerned) await this.#check()
    }
  }

  static async watch(world: SimulatedWorld, kind: keyof typeof PATHS): Promise<RotationWatch> {
    const watch = new RotationWatch(world, kind)
    await watch.#check()
    return watch
  }

  /** Nothing was violated, and there is one object, the one of the token, with nothing left to do. */
  expectAtRest(): void {
    expect(this.violations).toEqual([])
    const cr = this.#world.get(this.#kind, 'ci')
    expect(this.ids).toEqual([this.opened])
    expect(cr?.status?.id).toBe(this.opened)
    expect(cr?.status?.internal?.superseded).toBeUndefined()
    expect(cr?.status?.lastHandledRotateAt).toBe(cr?.metadata.annotations?.[ROTATE_REQUESTED_AT])
    expect(cr === undefined ? undefined : unresolvedAttempt(cr)).toBeUndefined()
    expect(cr?.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Ready=True',
      'Synced=True',
      'Rotated=True',
    ])
  }

  async #check(): Promise<void> {
    const { tokens, violations } = this
    const token = secretOf(this.#world, 'ci')?.token
    this.ids = await idsIn(this.#world, PATHS[this.#kind])
    this.opened = token === undefined ? undefined : await this.#world.api.openedBy(this.#kind, token)
    if (this.ids.length > 2) violations.push(`${this.ids.length} objects: ${this.ids.join(', ')}`)
    if (token === undefined) {
      if (tokens.length > 0) violations.push('the Secret holds no token any more')
      return
    }
    if (this.opened === undefined) violations.push(`the API does not take ${token}, which the Secret holds`)
    if (tokens.at(-1) !== token) tokens.push(token)
  }
}
