import { isDeleting, statusOf } from '../../../../src/managed/cr.ts'
import type { Oracle } from '../../simulation/oracle.ts'
import { NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'
import { watchUse } from '../references/deletions.ts'
import { usersById } from '../references/users.ts'
import { needsAmong, type Role } from './roles.ts'

/** Possible dependents of a policy in a story, by title. */
export const DEPENDENTS: readonly string[] = usersById.map(({ title }) => title)
/** Their kinds. */
export const DEPENDENT_KINDS: readonly string[] = ['IPPolicy', 'Edge', 'IPRestriction']
/** Longest time until a dependent is gone. Virtual milliseconds. */
const FAREWELL_MS = 5 * 60_000

/** The policies in a cast or its references, by name. */
export function policiesAmong(cast: readonly Role[]): readonly string[] {
  const named = [...cast, ...needsAmong(cast)].filter(({ kind }) => kind === 'IPPolicy')
  return [...new Set(named.map(({ name }) => name))]
}

/**
 * Dependents that use a story's policies by id: resources of this and of another namespace, and objects made by hand.
 */
export class Dependents {
  /** Objects without a CR. */
  readonly others: Set<string> = new Set()
  readonly #world: SimulatedWorld
  readonly #problems: readonly string[]
  /** Which dependent uses which policy, and the id it was given. */
  readonly #present = new Map<string, { readonly policy: string; readonly id: string }>()
  /** The last known ids of policies, by name. */
  readonly #ids = new Map<string, string>()

  constructor(world: SimulatedWorld, oracle: Oracle) {
    this.#world = world
    this.#problems = watchUse(world, oracle)
  }

  /** Prepares a world for them, before the first list. */
  static prepare(world: SimulatedWorld): void {
    for (const user of usersById) user.prepare(world)
  }

  /** References to a policy that did not exist or had no rule. */
  get problems(): readonly string[] {
    return [...new Set(this.#problems)]
  }

  async come(title: string, policy: string): Promise<void> {
    const user = usersById.find((each) => each.title === title)
    if (user === undefined) throw new Error(`there is no dependent called ${title}`)
    const id = this.#idOf(policy)
    if (id === undefined || this.#present.has(title) || user.find(this.#world) !== undefined) return
    // Objects made by hand after a list cannot be known.
    if (!user.isManaged && !this.#isUsable(id)) return
    this.#present.set(title, { policy, id })
    await user.make(this.#world, id)
    const made = user.made(this.#world)
    if (made !== undefined) this.others.add(made)
  }

  async go(title: string): Promise<void> {
    const user = usersById.find((each) => each.title === title)
    if (this.#present.delete(title)) await user?.remove(this.#world)
  }

  /**
   * Removes those that no policy can serve: theirs is gone or being deleted, has no rules of its own, or is out of
   * their reach.
   */
  async end(): Promise<void> {
    const gone: string[] = []
    for (const [title, { policy, id }] of this.#present) {
      const cr = this.#world.get('IPPolicy', policy)
      const { rules = [] } = (cr?.spec ?? {}) as { readonly rules?: readonly unknown[] }
      const isInReach = usersById.some((user) => user.title === title && !user.isElsewhere)
      const stays = isInReach && cr !== undefined && !isDeleting(cr) && statusOf(cr).id === id && rules.length > 0
      if (!stays) gone.push(title)
    }
    for (const title of gone) await this.go(title)
    const left = usersById.filter(({ title }) => gone.includes(title))
    await this.#world.until(() => left.every((user) => user.find(this.#world) === undefined), FAREWELL_MS)
  }

  #idOf(policy: string): string | undefined {
    const cr = this.#world.get('IPPolicy', policy, NAMESPACE)
    const id = cr === undefined ? undefined : statusOf(cr).id
    if (id !== undefined) this.#ids.set(policy, id)
    return this.#ids.get(policy)
  }

  /** Whether the account has the policy with a rule, and no part of it is about to be deleted. */
  #isUsable(id: string): boolean {
    const { accounts } = this.#world.api.emulator.admin.snapshot()
    const rules = Object.values(accounts).flatMap(({ objects }) => objects.ip_policy_rules ?? [])
    const isRuled = rules.some((rule) => JSON.stringify(rule).includes(id))
    return isRuled && !this.#world.all().some((cr) => cr.kind.startsWith('IPPolicy') && isDeleting(cr))
  }
}
