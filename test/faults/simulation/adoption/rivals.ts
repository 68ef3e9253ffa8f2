import type { CustomResource } from '../../../../src/managed/cr.ts'
import { FINALIZER } from '../../../../src/managed/names.ts'
import type { SpecCase } from '../../../kinds/lookup.ts'
import { subjects } from '../restore/life.ts'
import type { Trial } from '../restore/trial.ts'
import { isWrite, NAMESPACE } from '../world.ts'
import { type FoundObject, findObject, objectAt, refusalOf } from './found.ts'
import { type Hurt, hurtIn, hurts } from './hurts.ts'

type Policy = 'Manage' | 'Observe'

const NAMES = ['left', 'right'] as const
type Rival = (typeof NAMES)[number]

/**
 * How much later the second resource is applied. Milliseconds: a request takes four for the round trip, a watch ten.
 */
const OFFSETS = [0, 1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 13, 15, 20, 30] as const
/** Creation times have a resolution of a second. */
const SECOND_MS = 1_000
const POLICIES: readonly (readonly [left: Policy, right: Policy])[] = [
  ['Manage', 'Manage'],
  ['Observe', 'Manage'],
  ['Manage', 'Observe'],
  ['Observe', 'Observe'],
]
/** The other namespace. */
const ELSEWHERE = 'elsewhere'
/** Time until a resource is gone. Milliseconds. */
const FAREWELL_MS = 60_000
const REFUSED = ['NotAdoptable', 'TakenOver'] as const

interface Turn {
  readonly policies: readonly [left: Policy, right: Policy]
  readonly offset: number
  readonly hurt?: Hurt
  /** Whether both statuses name it before an operator runs. */
  readonly isHeld?: boolean
  /** Whether they are in two namespaces, with a ClusterAccount. */
  readonly isShared?: boolean
}

/** Two resources name the same object, applied a few milliseconds apart. */
export const rivals: readonly Trial[] = subjects.flatMap((subject) => {
  return POLICIES.flatMap((policies) => OFFSETS.map((offset) => trial(subject, { policies, offset }, ['', 'none'])))
})

/** Both statuses name the object: an earlier operator allowed it, or a status was copied. */
export const heldTwice: readonly Trial[] = [0, SECOND_MS].flatMap((offset) => {
  return subjects.map((subject) => {
    const turn: Turn = { policies: ['Manage', 'Manage'], offset, isHeld: true }
    return trial(subject, turn, [', in both statuses', 'none'])
  })
})

/** Two namespaces share an account: neither sees the other's resources. */
export const sharedRivals: readonly Trial[] = subjects
  .filter(({ needs }) => needs('').length === 0)
  .flatMap((subject) => {
    return POLICIES.flatMap((policies) => {
      return OFFSETS.map((offset) =>
        trial(subject, { policies, offset, isShared: true }, [', of two namespaces', 'none']),
      )
    })
  })

/** The first group, with a kill or a fault at each write. */
export const hurtRivals: readonly Trial[] = subjects.flatMap((subject) => {
  return hurts.flatMap(({ title, point, ...hurt }) => {
    return [0, 10].map((offset) => {
      return trial(subject, { policies: ['Manage', 'Manage'], offset, hurt }, [`, ${point}`, title])
    })
  })
})

function trial(subject: SpecCase, turn: Turn, [point, fault]: readonly [string, string]): Trial {
  const { policies, offset } = turn
  return {
    what: {
      write: `${subject.kind} ${subject.title} / adopted twice`,
      point: `${policies.join(', then ')} after ${offset} ms${point}`,
      fault,
    },
    run: async (laboratory) => {
      const found = await findObject(laboratory, subject, { isShared: turn.isShared ?? false })
      try {
        return await played(found, subject.kind, turn)
      } finally {
        found.world.down()
      }
    },
  }
}

async function played(found: FoundObject, kind: string, turn: Turn): Promise<readonly string[] | undefined> {
  const { world, oracle, id } = found
  oracle.allow({ refused: [...REFUSED, 'Observed'] })
  const pair = new Pair(found, kind, turn)
  const isHurt = hurtIn(world, turn.hurt)
  if (turn.isHeld === true) world.down()
  for (const name of NAMES) {
    pair.apply(name)
    await world.advance(name === 'left' ? turn.offset : 0)
  }
  if (turn.isHeld === true) {
    pair.hold()
    world.up()
  }
  await oracle.untilRest()
  if (!isHurt()) return undefined
  const problems = [...(await oracle.judge())]
  const [winner, ...others] = NAMES.filter((name) => !pair.isRefused(name))
  if (winner === undefined || others.length > 0) {
    const whose = [winner, ...others].join(' and ')
    return [...problems, `${whose} have ${id}: ${NAMES.map((name) => pair.told(name)).join('; ')}`]
  }
  const loser = winner === 'left' ? 'right' : 'left'
  if (turn.isHeld === true && turn.offset >= SECOND_MS && winner !== 'left') problems.push('the younger one has it')
  const refusal = pair.told(loser)
  // No message reveals the content of another namespace.
  const holder = turn.isShared === true ? 'a resource in another namespace' : `${kind}/${winner}`
  if (!refusal.includes(holder)) problems.push(`${loser} does not say who has ${id}: ${refusal}`)
  if (turn.isShared === true && refusal.includes(winner)) problems.push(`${loser} learns of ${winner}: ${refusal}`)
  problems.push(...pair.sentFor(loser))
  const before = JSON.stringify(await objectAt(found))
  pair.delete(loser)
  await world.until(() => pair.get(loser) === undefined, FAREWELL_MS)
  await world.advance(1_000)
  const after = JSON.stringify(await objectAt(found))
  if (before !== after) problems.push(`the deletion of ${loser} has made ${after} of ${before}`)
  problems.push(...(await oracle.judge()))
  await pair.end(winner)
  return [...problems, ...(await oracle.judge({}))]
}

/** The two resources of a turn. */
class Pair {
  readonly #found: FoundObject
  readonly #kind: string
  readonly #turn: Turn
  /** Requests sent for the object. */
  readonly #sent: string[] = []

  constructor(found: FoundObject, kind: string, turn: Turn) {
    this.#found = found
    this.#kind = kind
    this.#turn = turn
    const { world, path } = found
    if (turn.isShared === true) world.makeTenant(ELSEWHERE)
    const { onSend } = world.network
    world.network.onSend = (sighting) => {
      onSend(sighting)
      if (isWrite(sighting) && sighting.path === path) this.#sent.push(`${sighting.method} ${sighting.body}`)
    }
  }

  apply(name: Rival): void {
    const { world, id, spec } = this.#found
    const managementPolicy = this.#turn.policies[NAMES.indexOf(name)]
    const text = this.#kind === 'BotUser' ? { displayName: textOf(name) } : { description: textOf(name) }
    // Of two that only observe, neither declares anything against the object.
    const wanted = managementPolicy === 'Observe' ? spec : { ...spec, ...text }
    world.server.create(world.typeOf(this.#kind), this.#keyOf(name), {
      spec: {
        ...wanted,
        externalID: id,
        managementPolicy,
        deletionPolicy: this.#found.isGuarded ? 'Retain' : 'Delete',
      },
    })
  }

  /** Writes the object into both statuses, as adopted. */
  hold(): void {
    const { world, id } = this.#found
    const type = world.typeOf(this.#kind)
    for (const name of NAMES) {
      const status = { id, adopted: true, internal: { create: { nonce: `of-${name}`, attempt: 0 } } }
      world.server.patch(type, this.#keyOf(name), { metadata: { finalizers: [FINALIZER] } })
      world.server.patch(type, this.#keyOf(name), { status }, { subresource: 'status' })
    }
  }

  delete(name: Rival): void {
    const { namespace } = this.#keyOf(name)
    this.#found.world.delete(this.#kind, name, namespace)
  }

  /** Deletes everything, and an object that stays by hand. */
  async end(winner: Rival): Promise<void> {
    const { world, path } = this.#found
    this.delete(winner)
    await world.until(() => this.get(winner) === undefined, FAREWELL_MS)
    if ((await objectAt(this.#found)) !== undefined) await world.api.ask('DELETE', path)
    for (const { kind, metadata } of world.all()) world.delete(kind, metadata.name, metadata.namespace)
  }

  get(name: Rival): CustomResource | undefined {
    return this.#found.world.get(this.#kind, name, this.#keyOf(name).namespace)
  }

  isRefused(name: Rival): boolean {
    const { reason } = refusalOf(this.get(name))
    return this.get(name)?.status?.id === undefined && REFUSED.some((each) => each === reason)
  }

  /** Its state and messages. */
  told(name: Rival): string {
    const { reason, message } = refusalOf(this.get(name))
    return `${name} has ${this.get(name)?.status?.id} and says ${reason}: ${message}`
  }

  sentFor(name: Rival): readonly string[] {
    return this.#sent.filter((body) => body.includes(textOf(name))).map((body) => `sent for ${name}: ${body}`)
  }

  #keyOf(name: Rival) {
    return { namespace: this.#turn.isShared === true && name === 'right' ? ELSEWHERE : NAMESPACE, name }
  }
}

function textOf(name: Rival): string {
  return `as ${name} has it`
}
