import type { FaultAct, FaultMatch } from '../../../src/emulator/faults/fault-spec.ts'
import type { JournalEntry } from '../../../src/emulator/http/journal.ts'
import type { Interception, KubeProxy, PassingRequest } from '../../builders/kube-proxy.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { managed, pathOf } from './cases.ts'
import { hasToken } from './tokens.ts'
import type { World } from './world.ts'

/** Stops writes of an operator, so that it can be killed at that point. */
export interface Gate {
  /** From now on stops writes at which the operator has not been killed before. */
  close(): void
  /** Names of the CRs with a write stopped since then. */
  reached(): Promise<ReadonlySet<string>>
  /** The operator is dead: records the stops, and lets everything pass. */
  open(): void
}

/** What of a write is lost with the process: the write and then its answer, in two processes, or only the answer. */
export type Loss = 'write, then answer' | 'answer'

type Point = 'before' | 'after'

/** The points at which a write is stopped, in order. */
function pointsOf(loss: Loss): readonly Point[] {
  return loss === 'answer' ? ['after'] : ['before', 'after']
}

/**
 * Kubernetes writes to the CRs, to metadata and status. A further attempt or a repeated condition is not a new sort of
 * write: the operator is killed once for each sort.
 */
export class KubeGate implements Gate {
  readonly #proxy: KubeProxy
  readonly #names: ReadonlyMap<string, string>
  readonly #loss: Loss
  readonly #killedAt = new Set<string>()
  #rule: Interception | undefined

  constructor(loss: Loss, world: World, subjects: readonly Manifest[], proxy: KubeProxy) {
    this.#proxy = proxy
    this.#names = new Map(subjects.map((subject) => [pathOf(world, subject), subject.name]))
    this.#loss = loss
  }

  close(): void {
    this.#rule = this.#proxy.intercept((request) => {
      const next = this.#nameOf(request) === undefined ? undefined : this.#nextPoint(request)
      if (next === undefined) return undefined
      return { type: 'hold', when: next }
    })
  }

  async reached(): Promise<ReadonlySet<string>> {
    return new Set(this.#rule?.requests.map((request) => this.#nameOf(request) ?? ''))
  }

  open(): void {
    const points = this.#rule?.requests.map((request) => `${this.#nextPoint(request)} ${sortOf(request)}`) ?? []
    for (const point of points) this.#killedAt.add(point)
    this.#rule?.remove()
  }

  #nameOf({ method, path }: PassingRequest): string | undefined {
    return method === 'PATCH' ? this.#names.get(path.replace(/\/status$/, '')) : undefined
  }

  #nextPoint(request: PassingRequest): Point | undefined {
    return pointsOf(this.#loss).find((point) => !this.#killedAt.has(`${point} ${sortOf(request)}`))
  }
}

/** Distinguishes writes to a CR: by the annotations set, whether an id is stored, and the Ready condition. */
function sortOf({ path, body }: PassingRequest): string {
  const { metadata, status } = JSON.parse(body) as {
    readonly metadata?: { readonly annotations?: Record<string, unknown> }
    readonly status?: { readonly id?: string; readonly conditions?: readonly { type: string; reason: string }[] }
  }
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.reason
  return [path, Object.keys(metadata?.annotations ?? {}), status?.id === undefined ? '' : 'id', ready].join(' ')
}

/**
 * Writes to the API. A missing object or rule is requested again by each process; a change may be sent again although
 * it took effect: the operator is killed once for each that loses the request, and once for each that loses the answer.
 */
export class ApiGate implements Gate {
  readonly #world: World
  readonly #subjects: readonly Manifest[]
  readonly #loss: Loss
  /** In how many processes the operator was killed at a POST to this path. */
  readonly #posts = new Map<string, number>()
  readonly #patches: Readonly<Record<Point, Set<string>>> = { before: new Set(), after: new Set() }
  readonly #faults = new Map<string, Point>()
  #since = 0

  constructor(loss: Loss, world: World, subjects: readonly Manifest[]) {
    this.#world = world
    this.#subjects = subjects
    this.#loss = loss
  }

  /** The collections in which a create was stopped. */
  get collections(): readonly string[] {
    return [...this.#posts.keys()]
  }

  close(): void {
    this.#since = this.#world.mark()
    for (const path of COLLECTIONS) {
      const stopped = this.#posts.get(path) ?? 0
      // An object whose token was lost with the answer is requested again by each process.
      if (WITH_TOKENS.has(path) && stopped >= pointsOf(this.#loss).length) continue
      const losesWrite = this.#loss !== 'answer' && stopped % 2 === 0
      this.#stop({ method: 'POST', path }, losesWrite ? 'before' : 'after')
    }
    for (const point of pointsOf(this.#loss)) {
      this.#stop({ method: 'PATCH', pathPattern: `^(?!(${[...this.#patches[point], '-'].join('|')})$)` }, point)
    }
  }

  async reached(): Promise<ReadonlySet<string>> {
    return namesIn(this.#world, this.#subjects, this.#stopped())
  }

  open(): void {
    const stopped = this.#stopped()
    for (const path of new Set(stopped.filter(({ method }) => method === 'POST').map((entry) => entry.path))) {
      this.#posts.set(path, (this.#posts.get(path) ?? 0) + 1)
    }
    for (const { method, path, fault } of stopped) {
      const point = this.#faults.get(fault ?? '')
      if (method === 'PATCH' && point !== undefined) this.#patches[point].add(path)
    }
    for (const id of this.#faults.keys()) this.#world.emulator.admin.deleteFault(id)
    this.#faults.clear()
  }

  #stop(match: FaultMatch, point: Point): void {
    const act: FaultAct = this.#loss === 'answer' ? { type: 'commit-then-drop' } : { type: 'hang', when: point }
    this.#faults.set(this.#world.emulator.admin.addFault({ match: { ...match, every: true }, act }).id, point)
  }

  /** Requests that have reached their stop. */
  #stopped(): readonly JournalEntry[] {
    return this.#world.journal(this.#since).filter(({ fault, body, status }) => {
      const point = this.#faults.get(fault ?? '')
      return point === 'before' ? body !== null : point === 'after' && status !== null
    })
  }
}

const COLLECTIONS: readonly string[] = managed.flatMap(({ identity: { collections }, children }) => {
  return [...collections, ...(children === undefined ? [] : [children.collection])].map(({ path }) => `/${path}`)
})

const WITH_TOKENS: ReadonlySet<string> = new Set(
  managed.filter(hasToken).flatMap(({ identity: { collections } }) => collections.map(({ path }) => `/${path}`)),
)

/** The CRs of requests: by the object in the path, the policy in the body, or the marker in the body. */
async function namesIn(
  world: World,
  subjects: readonly Manifest[],
  entries: readonly JournalEntry[],
): Promise<ReadonlySet<string>> {
  if (entries.length === 0) return new Set()
  const byId = new Map<string, string>()
  for (const { kind, name } of subjects) {
    const id = (await world.get(kind, name))?.status?.id
    if (id !== undefined) byId.set(id, name)
  }
  const names = entries.map(({ path, body }) => {
    const {
      metadata,
      name = '',
      ip_policy_id = '',
    } = body as { metadata?: string; name?: string; ip_policy_id?: string }
    // Bot users have no metadata and carry the marker in their name.
    const marked = /"name":"([^"]+)"/.exec(metadata ?? name)?.[1]
    return byId.get(path.split('/').at(-1) ?? '') ?? byId.get(ip_policy_id) ?? marked
  })
  return new Set(names.filter((name) => name !== undefined))
}
