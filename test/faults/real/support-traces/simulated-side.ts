import type { SeedSpec } from '../../../../src/emulator/admin/seed.ts'
import { configMapType, secretType } from '../../../../src/kube/core-types.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { RECONCILE_REQUESTED_AT } from '../../../../src/managed/names.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import type { Sighting } from '../../simulation/faults.ts'
import { API_HOST, INSTALLATION, OPERATOR_NAMESPACE, times } from '../../simulation/operator.ts'
import { type Laboratory, NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'
import { answerOf, type Call, isApart, parsed, type Side } from './side.ts'

type Fields = Readonly<Record<string, unknown>>

const ACCOUNT = { namespace: NAMESPACE, name: 'default' }
/** On the real servers a watch reports a write before the write is answered. */
const FRAME_MS = 1
/** Longer than any immediate reaction takes. Virtual. */
const PAUSE_MS = 3_000
/** Virtual time within which every awaited state is reached. */
const BOUND_MS = 5 * 60_000

/** The models of both servers, and an operator between them. */
export class SimulatedSide implements Side {
  readonly words = [
    [OPERATOR_NAMESPACE, '{operator namespace}'],
    [`https://${API_HOST}`, '{api}'],
    [`http://${API_HOST}`, '{api}'],
    [INSTALLATION, '{installation}'],
  ] as const
  readonly api: SimulatedWorld['api']
  readonly #world: SimulatedWorld
  readonly #answers = new Map<Sighting, Pick<Call, 'status' | 'answer'>>()
  #seen: Sighting[] = []
  #since = 0

  constructor(laboratory: Laboratory, seed: SeedSpec) {
    this.#world = laboratory.world()
    this.api = this.#world.api
    this.api.emulator.admin.seed(seed)
    const { network, server, kube, kinds } = this.#world
    // The account is resynced only on request.
    kube.delete(kinds.accountType('Account'), ACCOUNT)
    const spec = { baseURL: `https://${API_HOST}`, apiKeySecretRef: { name: 'key' }, resyncInterval: '10m' }
    server.create(kinds.accountType('Account'), ACCOUNT, { spec })
    network.frameMs = FRAME_MS
    network.onArrival = (sighting) => {
      if (sighting.server === 'kubernetes' && !isApart(sighting.path, String(sighting.query))) this.#seen.push(sighting)
    }
    network.onDone = (sighting, { status, body }) => {
      const answer = answerOf(sighting.method, body)
      this.#answers.set(sighting, { status, ...(answer === undefined ? {} : { answer }) })
    }
  }

  apply(kind: string, name: string, spec: Fields): void {
    this.#world.apply(kind, name, spec)
  }

  annotate(kind: string, name: string, annotations: Readonly<Record<string, string | null>>): void {
    this.#world.annotate(kind, name, annotations)
  }

  delete(kind: string, name: string): void {
    this.#world.delete(kind, name)
  }

  get(kind: string, name: string): CustomResource | undefined {
    return this.#world.get(kind, name)
  }

  placeOf(cr: CustomResource) {
    return this.#world.placeOf(cr)
  }

  async until(what: string, subjects: readonly Manifest[], met: (crs: readonly CustomResource[]) => boolean) {
    const crs = () => subjects.flatMap(({ kind, name }) => this.get(kind, name) ?? [])
    if (!(await this.#world.until(() => met(crs()), BOUND_MS)))
      throw new Error(`in the simulation ${what} does not come: ${JSON.stringify(crs(), null, 2)}`)
  }

  async look(value: string): Promise<void> {
    const { server, kinds } = this.#world
    server.patch(kinds.accountType('Account'), ACCOUNT, {
      metadata: { annotations: { [RECONCILE_REQUESTED_AT]: value } },
    })
    const looked = () => this.#world.account?.status?.lastHandledReconcileAt === value
    if (!(await this.#world.until(looked, BOUND_MS))) throw new Error('the simulated account does not look')
  }

  async outliveReadLag(): Promise<void> {
    await this.#world.advance(times.readLagMs)
  }

  mark(): void {
    this.#seen = []
    this.#since = this.api.emulator.admin.journal().at(-1)?.seq ?? 0
  }

  calls(): readonly Call[] {
    const kubernetes = this.#seen.map((sighting): Call => {
      const { server, method, path, query, body } = sighting
      const answer = this.#answers.get(sighting) ?? { status: null }
      return { server, method, path, query: String(query), body: parsed(body), ...answer }
    })
    return [...kubernetes, ...this.api.emulator.admin.journal(this.#since).map(callOf)]
  }

  async callsAtLeast(): Promise<void> {
    await this.#world.advance(PAUSE_MS)
  }

  async tidy(): Promise<void> {
    for (const type of [secretType, configMapType]) this.#world.kube.collectGarbage(type)
    await this.#world.advance(PAUSE_MS)
  }

  made() {
    return this.api.emulator.admin.journal().flatMap(madeBy)
  }

  end(): void {
    this.#world.down()
  }
}

type JournalEntry = ReturnType<SimulatedWorld['api']['emulator']['admin']['journal']>[number]

/** The emulator's record of a request. */
export function callOf({ method, path, query, body, status }: JournalEntry): Call {
  return { server: 'api', method, path, query: query.replace(/^\?/, ''), body: body ?? undefined, status }
}

export function madeBy({ method, status, responseId, body }: JournalEntry) {
  return method === 'POST' && status === 201 && responseId !== null ? [{ id: responseId, body }] : []
}
