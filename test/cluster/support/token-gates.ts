import type { Interception, KubeProxy, PassingRequest } from '../../builders/kube-proxy.ts'
import { tokenPlaceIn } from '../../builders/output-of-spec.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { pathOf } from './cases.ts'
import type { Gate } from './gates.ts'
import { secrets } from './tokens.ts'
import type { World } from './world.ts'

type Point = 'before' | 'after'
const POINTS: readonly Point[] = ['before', 'after']

/** Writes to the CRs and to the Secrets of their tokens; the operator is killed before and after each sort of them. */
export class SecretGate implements Gate {
  readonly #world: World
  readonly #proxy: KubeProxy
  /** Names of the subjects, by the path of the CR and by the name of its Secret. */
  readonly #names: ReadonlyMap<string, string>
  readonly #killedAt = new Set<string>()
  #rule: Interception | undefined

  constructor(world: World, subjects: readonly Manifest[], proxy: KubeProxy) {
    this.#world = world
    this.#proxy = proxy
    this.#names = new Map(
      subjects.flatMap((subject): (readonly [string, string])[] => [
        [pathOf(world, subject), subject.name],
        [tokenPlaceIn(subject.spec, subject.name).name, subject.name],
      ]),
    )
  }

  /** The writes at which it was killed. */
  get kills(): ReadonlySet<string> {
    return this.#killedAt
  }

  close(): void {
    this.#rule = this.#proxy.intercept((request) => {
      const next = this.#nameOf(request) === undefined ? undefined : this.#nextPoint(request)
      return next === undefined ? undefined : { type: 'hold', when: next }
    })
  }

  async reached(): Promise<ReadonlySet<string>> {
    return new Set(this.#rule?.requests.map((request) => this.#nameOf(request) ?? ''))
  }

  open(): void {
    const points = this.#rule?.requests.map((request) => `${this.#nextPoint(request)} ${this.#sortOf(request)}`) ?? []
    for (const point of points) this.#killedAt.add(point)
    this.#rule?.remove()
  }

  #nameOf({ method, path, body }: PassingRequest): string | undefined {
    if (method === 'GET') return undefined
    const secretsPath = `/api/v1/namespaces/${this.#world.namespace}/${secrets.plural}`
    if (path === secretsPath) return this.#names.get(bodyOf(body).metadata?.name ?? '')
    if (path.startsWith(`${secretsPath}/`)) return this.#names.get(path.slice(secretsPath.length + 1))
    return this.#names.get(path.replace(/\/status$/, ''))
  }

  /** Distinguishes writes: the Secret's reservation, its token, the attempt, the id. */
  #sortOf(request: PassingRequest): string {
    const { metadata = {}, data, status } = bodyOf(request.body)
    const annotations = Object.keys(metadata.annotations ?? {})
    const place = request.path.includes('/secrets') ? 'Secret' : request.path.endsWith('/status') ? 'status' : 'CR'
    const what = [data === undefined ? '' : 'data', status?.id === undefined ? '' : 'id', ...annotations]
    return [this.#nameOf(request), request.method, place, ...what.filter((word) => word !== '')].join(' ')
  }

  #nextPoint(request: PassingRequest): Point | undefined {
    return POINTS.find((point) => !this.#killedAt.has(`${point} ${this.#sortOf(request)}`))
  }
}

interface Written {
  readonly metadata?: { readonly name?: string; readonly annotations?: Readonly<Record<string, unknown>> }
  readonly data?: Readonly<Record<string, unknown>>
  readonly status?: { readonly id?: string }
}

function bodyOf(body: string): Written {
  return JSON.parse(body) as Written
}

/**
 * POSTs to the collections of tokens: the operator is killed once before each takes effect, and once while its answer
 * is in flight.
 */
export class PostGate implements Gate {
  readonly #world: World
  readonly #paths: readonly string[]
  #points: readonly Point[] = POINTS
  readonly #faults = new Map<string, Point>()
  #since = 0

  constructor(world: World, paths: readonly string[]) {
    this.#world = world
    this.#paths = paths
  }

  close(): void {
    this.#since = this.#world.mark()
    const [when] = this.#points
    if (when === undefined) return
    for (const path of this.#paths) {
      const match = { method: 'POST', path, every: true }
      this.#faults.set(this.#world.emulator.admin.addFault({ match, act: { type: 'hang', when } }).id, when)
    }
  }

  async reached(): Promise<ReadonlySet<string>> {
    const stopped = this.#world.journal(this.#since).filter(({ fault, body, status }) => {
      const point = this.#faults.get(fault ?? '')
      return point === 'before' ? body !== null : point === 'after' && status !== null
    })
    const names = stopped.map(
      ({ body }) => /"name":"([^"]+)"/.exec((body as { metadata?: string }).metadata ?? '')?.[1],
    )
    return new Set(names.filter((name) => name !== undefined))
  }

  open(): void {
    this.#points = this.#points.slice(1)
    for (const id of this.#faults.keys()) this.#world.emulator.admin.deleteFault(id)
    this.#faults.clear()
  }
}
