import { statusOf } from '../../../../src/managed/cr.ts'
import type { Episode } from '../../simulation/episodes.ts'
import type { Fault, Sighting, Trouble } from '../../simulation/faults.ts'
import { textOf } from '../../simulation/oracle.ts'
import { NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'
import { type KubeFault, LASTING_MS } from './kube-faults.ts'
import { type Target, targetOf } from './target.ts'

/**
 * Objects that a spec or an output names. The account's Secret is excluded: it is read for many, and the account's last
 * known state holds while it is unreadable.
 */
const isNamed = ({ plural, name }: Target): boolean => {
  return (plural === 'secrets' || plural === 'configmaps') && name !== 'key'
}

/** A resource reports what blocks it within this time. Virtual milliseconds. */
const TOLD_MS = 20_000

export interface HurtOptions {
  /** Its description with its number, as from `numbered`. */
  readonly request: string
  readonly fault: KubeFault
}

/** One request of an episode meets a fault; a resource that is refused for long must say so. */
export class Hurt implements Trouble {
  readonly #world: SimulatedWorld
  readonly #episode: Episode
  readonly #options: HurtOptions
  readonly #counts = new Map<string, number>()
  readonly #problems: string[] = []
  /** Messages of refusals that the resource's conditions should report. */
  readonly #refusals = new Set<string>()
  #first: { readonly sighting: Sighting; readonly until: number } | undefined

  constructor(world: SimulatedWorld, episode: Episode, options: HurtOptions) {
    this.#world = world
    this.#episode = episode
    this.#options = options
  }

  unspent(): readonly string[] {
    return this.#first === undefined ? ['the operator never came to this request'] : this.#problems
  }

  request(sighting: Sighting): Fault | undefined {
    if (sighting.server !== 'kubernetes') return undefined
    if (this.#first !== undefined) return this.#later(sighting)
    const text = textOf(sighting)
    const count = (this.#counts.get(text) ?? 0) + 1
    this.#counts.set(text, count)
    return `${text} #${count}` === this.#options.request ? this.#hit(sighting) : undefined
  }

  #hit(sighting: Sighting): Fault | undefined {
    const { time } = this.#world
    this.#first = { sighting, until: time.now + LASTING_MS }
    const fault = this.#options.fault.hit(sighting, this.#world)
    if (fault?.type === 'answer' && this.#isTold(sighting)) {
      this.#refusals.add(messageIn(fault.answer.body))
      time.setTimer(TOLD_MS, () => this.#expectTold())
    }
    return fault
  }

  #later(sighting: Sighting): Fault | undefined {
    const { lasts, hit } = this.#options.fault
    if (this.#first === undefined || lasts === undefined || this.#world.time.now > this.#first.until) return undefined
    const fault = lasts(sighting, this.#first.sighting) ? hit(sighting, this.#world) : undefined
    // A retry may be refused at an earlier request of the reconcile, and reports that one.
    if (fault?.type === 'answer' && this.#isTold(sighting)) this.#refusals.add(messageIn(fault.answer.body))
    return fault
  }

  /** Whether the refusal lasts, and leaves the resource's status writable to report it. */
  #isTold(first: Sighting): boolean {
    const { lasts } = this.#options.fault
    if (lasts === undefined) return false
    const { kind, name } = this.#episode
    const target = targetOf(first)
    const { plural } = this.#world.typeOf(kind)
    const isOwn = target.plural === plural && target.name === name
    const status = `/apis/any/v1/namespaces/${NAMESPACE}/${plural}/${name}/status`
    return (isOwn || isNamed(target)) && !lasts({ ...first, method: 'PATCH', path: status }, first)
  }

  #expectTold(): void {
    const { kind, name } = this.#episode
    const cr = this.#world.get(kind, name)
    const said = JSON.stringify(cr === undefined ? [] : statusOf(cr).conditions)
    const refusals = [...this.#refusals]
    if (refusals.some((message) => said.includes(JSON.stringify(message).slice(1, -1)))) return
    this.#problems.push(`does not say "${refusals.join('" or "')}": ${said}`)
  }
}

function messageIn(body: string): string {
  return (JSON.parse(body) as { readonly message: string }).message
}
