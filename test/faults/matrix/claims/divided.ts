import { parseLabelSelector } from '../../../../src/managed/accounts/selector-text.ts'
import { claimOf } from '../../../../src/managed/claims/claim.ts'
import type { Selectors } from '../../../../src/operator/claims/selection.ts'
import type { Fault, Sighting, Trouble } from '../../simulation/faults.ts'
import { type Division, OPERATOR_NAMESPACE } from '../../simulation/operator.ts'
import { textOf } from '../../simulation/oracle.ts'
import { isWrite, type SimulatedWorld, type WorldOptions } from '../../simulation/world.ts'

const LABEL = 'operator'
/** Which operator the account's label names: one of the two, or both. */
export type Named = 'red' | 'blue' | 'both'

/** Two operators that divide accounts by a label. */
const divisions: readonly Division[] = [divisionOf('red'), divisionOf('blue')]

function divisionOf(name: string): Division {
  return { name, selectors: selectorsFor(`${LABEL} in (${name},both)`) }
}

function selectorsFor(text: string): Selectors {
  const accounts = parseLabelSelector(text)
  if ('problem' in accounts) throw new Error(accounts.problem)
  return { accounts }
}

/** A world with these two, whose account belongs to `named`. */
export function dividedWorld(named: Named): Pick<WorldOptions, 'divisions' | 'accountLabels'> {
  return { divisions, accountLabels: { [LABEL]: named } }
}

/** Gives the account to another operator. */
export function moveTo(world: SimulatedWorld, named: Named): void {
  world.labelAccount({ [LABEL]: named })
}

/** The name of the operator that claims the account; undefined if none does. */
export function claimant(world: SimulatedWorld): string | undefined {
  const claim = world.account && claimOf(world.account)
  return claim?.operator.replace(`${OPERATOR_NAMESPACE}/`, '')
}

/** Judges at every request whether its sender has the account's claim, and passes on the faults of another. */
export class OnlyClaimant implements Trouble {
  readonly #world: SimulatedWorld
  readonly #within: Trouble
  readonly #problems: string[] = []
  /** Processes that sent a claim, by its term. */
  readonly #claimedBy = new Map<string, string>()
  /** API writes of each operator. */
  readonly writes = new Map<string, number>()

  constructor(world: SimulatedWorld, within: Trouble = { request: () => undefined }) {
    this.#world = world
    this.#within = within
  }

  request(sighting: Sighting): Fault | undefined {
    this.#noteClaim(sighting)
    if (concernsAccount(sighting)) this.#check(sighting)
    return this.#within.request(sighting)
  }

  frame(...args: Parameters<NonNullable<Trouble['frame']>>) {
    return this.#within.frame?.(...args)
  }

  unspent(): readonly string[] {
    return [...this.#problems, ...(this.#within.unspent?.() ?? [])]
  }

  #noteClaim({ process, body }: Sighting): void {
    if (!isClaim(body)) return
    const [, term] = /"term":"([^"]+)"/.exec(body) ?? []
    if (term !== undefined) this.#claimedBy.set(term, process.name)
  }

  #check(sighting: Sighting): void {
    const { process, server } = sighting
    const { name = '' } = this.#world.operators.find((operator) => operator.process === process) ?? {}
    if (server === 'api' && isWrite(sighting)) this.writes.set(name, (this.writes.get(name) ?? 0) + 1)
    const claim = this.#world.account && claimOf(this.#world.account)
    const sender = claim === undefined ? undefined : this.#claimedBy.get(claim.term)
    if (sender === undefined || sender === process.name) {
      if (claim !== undefined) return
    }
    this.#problems.push(`${process.name} sends ${textOf(sighting)} while ${sender ?? 'nobody'} has the claim`)
  }
}

/** Every request to the API, and every write in the account's namespace but that of a claim. */
function concernsAccount(sighting: Sighting): boolean {
  const { server, path, body } = sighting
  if (server === 'api') return true
  return isWrite(sighting) && path.includes('/namespaces/shop/') && !isClaim(body)
}

function isClaim(body: string): boolean {
  return body.includes('"claim":')
}
