import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import type { KubeObject } from '../src/kube/types.ts'
import { EmulatorClient } from '../test/builders/emulator-client.ts'
import { usageOf } from '../test/builders/process-usage.ts'
import type { OperatorProcess } from '../test/cluster/support/operator-process.ts'
import { apply, clientOf, inParallel, type Manifest, typeOf } from './cluster.ts'
import { heapMiB, INSPECTED } from './heap.ts'
import { backends } from './loads.ts'
import { Place } from './place.ts'
import type { Row } from './row.ts'

const COUNT = 5000
const COLLECTION = '/backends/tunnel_group'
/** What happens in a step, of which there is one a second, each to another resource. */
const EDITS = 5
const REPLACEMENTS = 2
const DRIFTS = 1
const RESTART_MINUTES = 10
const REPLACED_AT_ONCE = 16
/** After as many steps as change each resource four times, as many have been corrected as ever will be. */
const WARM_UP_STEPS = (4 * COUNT) / (EDITS + REPLACEMENTS + DRIFTS)
/** Steps a second. */
const WARM_UP_PACE = 4
/** Drift is found by a resync. */
const RESYNC = '2m'
/** After this long nothing is left to do. */
const REST_MS = 5000

/**
 * Edits, deletes and creates Backends, changes remote objects and restarts the apiserver, for so many minutes; then
 * waits until every object is as its spec says. The heap is measured after a forced collection: with new Backends,
 * after a warm-up of the same changes, and after the churn. The warm-up fills what is bounded: the ids of deleted
 * objects, the notes of corrected ones, and V8's tables, which grow when entries come and go, and then keep their size.
 */
export async function run(
  controlPlane: ControlPlane,
  minutes: number,
  add: (rows: readonly Row[]) => void,
): Promise<void> {
  const manifests = Array.from({ length: COUNT }, (_, group) => backends.manifests(group)).flat()
  await using place = await Place.make(controlPlane, 'churn', manifests, { account: { resyncInterval: RESYNC } })
  const load = `${COUNT} Backends, ${minutes} minutes of churn`
  const { operator } = await place.start(INSPECTED)
  await atRest(place, operator)
  await using churn = new Churn(controlPlane, place, manifests)
  add([{ load, figure: 'heap in use with new Backends', value: await heapMiB(operator), unit: 'MiB' }])
  await churn.replaceAll()
  await place.until(operator, () => churn.isSettled())
  await churn.warmUp()
  await place.until(operator, () => churn.isSettled())
  await atRest(place, operator)
  const before = { heap: await heapMiB(operator), usage: await usageOf(operator.pid) }
  add([{ load, figure: 'heap in use after the warm-up', value: before.heap, unit: 'MiB' }])

  await churn.run(minutes, async (minute) => {
    const value = await heapMiB(operator)
    add([{ load, figure: `heap in use after ${minute} minutes`, value, unit: 'MiB', floor: before.heap }])
  })
  await place.until(operator, () => churn.isSettled())
  await atRest(place, operator)
  const after = { heap: await heapMiB(operator), usage: await usageOf(operator.pid) }
  await operator.stop()

  const { edits, replacements, drifts, restarts } = churn.done
  add([
    { load, figure: 'heap in use, compared to after the warm-up', value: after.heap, unit: 'MiB', floor: before.heap },
    {
      load,
      figure: 'memory, compared to after the warm-up',
      value: after.usage.residentMiB,
      unit: 'MiB',
      floor: before.usage.residentMiB,
    },
    { load, figure: 'edits', value: edits, unit: '' },
    { load, figure: 'deletions, each with a create', value: replacements, unit: '' },
    { load, figure: 'objects changed at the API', value: drifts, unit: '' },
    { load, figure: 'restarts of the apiserver', value: restarts, unit: '' },
  ])
}

async function atRest(place: Place, operator: OperatorProcess): Promise<void> {
  await place.until(operator, async () => (await operator.metric('culvert_resources', 'ready="True"')) >= COUNT)
  await sleep(REST_MS)
}

/** The resources, of which some change each second. */
class Churn {
  readonly done = { edits: 0, replacements: 0, drifts: 0, restarts: 0 }
  readonly #controlPlane: ControlPlane
  readonly #namespace: string
  #kube: ReturnType<typeof clientOf>
  readonly #api: EmulatorClient
  /** The first is the one that was left alone for longest. */
  readonly #live: Manifest[]
  #made = COUNT

  constructor(controlPlane: ControlPlane, { namespace, emulator }: Place, manifests: readonly Manifest[]) {
    this.#controlPlane = controlPlane
    this.#namespace = namespace
    this.#kube = clientOf(controlPlane)
    this.#api = EmulatorClient.of(emulator)
    this.#live = [...manifests]
  }

  /** @param look called after each restart of the apiserver but the last, with the minutes so far */
  async run(minutes: number, look: (minute: number) => Promise<void>): Promise<void> {
    for await (const { minute } of this.#steps(1)) {
      if (minute >= minutes) break
      if (minute > (this.done.restarts + 1) * RESTART_MINUTES) {
        await this.#restartApiserver()
        await look(Math.floor(minute))
      }
    }
    await this.#endWithRestart()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kube.close()
  }

  /** Replaces every resource by another. */
  async replaceAll(): Promise<void> {
    await inParallel(this.#live.splice(0), REPLACED_AT_ONCE, (manifest) => this.#replace(manifest))
  }

  /** The changes of {@link run}, faster, and not counted. */
  async warmUp(): Promise<void> {
    for await (const { step } of this.#steps(WARM_UP_PACE)) if (step >= WARM_UP_STEPS) break
    await this.#endWithRestart()
    Object.assign(this.done, { edits: 0, replacements: 0, drifts: 0, restarts: 0 })
  }

  /** Whether the API has one object for each resource, as its spec says, and no other. */
  async isSettled(): Promise<boolean> {
    const found = (await this.#api.list(COLLECTION)).map(({ labels }) => appOf(labels))
    const wanted = new Set(this.#live.map(({ spec }) => appOf((spec.tunnelGroup as TunnelGroup).labels)))
    return found.length === wanted.size && found.every((app) => wanted.delete(app))
  }

  /** Takes so many steps a second. Yields the number of each, and the minutes so far. */
  async *#steps(pace: number): AsyncGenerator<{ readonly step: number; readonly minute: number }> {
    const began = performance.now()
    const elapsed = (): number => performance.now() - began
    for (let step = 1; ; step += 1) {
      await this.#step()
      yield { step, minute: elapsed() / 60_000 }
      await sleep(Math.max(0, (step * 1000) / pace - elapsed()))
    }
  }

  /**
   * Warm-up and churn end alike: a restart of the apiserver makes the operator list everything again, which holds twice
   * the memory meanwhile. Once what is changed after it has settled, that list is over.
   */
  async #endWithRestart(): Promise<void> {
    await this.#restartApiserver()
    await this.#step()
  }

  async #step(): Promise<void> {
    await inParallel(this.#next(EDITS), EDITS, (manifest) => this.#edit(manifest))
    await inParallel(this.#next(REPLACEMENTS), REPLACEMENTS, (manifest) => this.#replace(manifest))
    this.done.replacements += REPLACEMENTS
    await inParallel(this.#next(DRIFTS), DRIFTS, (manifest) => this.#drift(manifest))
  }

  /** The connections of a client end with the apiserver. */
  async #restartApiserver(): Promise<void> {
    await this.#kube.close()
    await this.#controlPlane.restartApiserver()
    this.#kube = clientOf(this.#controlPlane)
    this.done.restarts += 1
  }

  /** Some of the half that was left alone for longest: in strict turn each would meet the same change every time. */
  #next(count: number): readonly Manifest[] {
    const half = this.#live.length / 2
    return Array.from({ length: count }, () => this.#live.splice(Math.floor(Math.random() * half), 1)).flat()
  }

  async #edit(manifest: Manifest): Promise<void> {
    this.done.edits += 1
    await this.#apply({ ...manifest, spec: this.#fresh().spec })
  }

  async #replace({ kind, name }: Manifest): Promise<void> {
    await this.#kube.delete(typeOf(kind), { namespace: this.#namespace, name })
    await this.#apply(this.#fresh())
  }

  async #drift(manifest: Manifest): Promise<void> {
    const key = { namespace: this.#namespace, name: manifest.name }
    const found = await this.#kube.get<KubeObject & { readonly status?: { readonly id?: string } }>(
      typeOf(manifest.kind),
      key,
    )
    this.#live.push(manifest)
    const id = found?.status?.id
    if (id === undefined) throw new Error(`${manifest.name} has no object yet`)
    this.done.drifts += 1
    const { status } = await this.#api.patch(`${COLLECTION}/${id}`, { labels: { app: 'drifted' } })
    if (status !== 200) throw new Error(`the change of ${id} was answered ${status}`)
  }

  async #apply(manifest: Manifest): Promise<void> {
    await apply(this.#kube, this.#namespace, manifest)
    this.#live.push(manifest)
  }

  /** With a name and labels that no resource had. */
  #fresh(): Manifest {
    const [manifest] = backends.manifests(this.#made)
    if (manifest === undefined) throw new Error('the load has no manifest')
    this.#made += 1
    return manifest
  }
}

interface TunnelGroup {
  readonly labels: unknown
}

/** The label that no other resource of the load has. */
function appOf(labels: unknown): string {
  return (labels as { readonly app: string }).app
}
