import { text } from 'node:stream/consumers'
import { type Dispatcher, Pool } from 'undici'
import { loadKubeConnection } from '../src/kube/load-config.ts'
import { inParallel, typeOf } from './cluster.ts'
import type { BareReport, BareTask } from './floor.ts'
import { type Create, type Load, loads } from './loads.ts'

/** Groups at a time, as the operator has workers. */
const AT_ONCE = 16
/** Connections, as the operator opens at most. */
const CONNECTIONS = { kubernetes: 20, api: 64 }
const HEADERS = { 'content-type': 'application/json', 'service-version': '2' }

/**
 * The floor of a load, as a process of its own: it makes the requests without which a load cannot be Ready, and does
 * nothing else: finalizer and annotation, the creates, then the status; or the lists that a restart needs. It reads its
 * task from standard input and reports on standard output.
 */
class BareClient {
  readonly #task: BareTask
  readonly #load: Load
  readonly #kubernetes: Pool
  readonly #kubernetesHeaders: Readonly<Record<string, string>>
  readonly #api: Pool
  #requests = 0

  constructor(task: BareTask, load: Load, kubernetes: Pool, headers: Readonly<Record<string, string>>) {
    this.#task = task
    this.#load = load
    this.#kubernetes = kubernetes
    this.#kubernetesHeaders = { ...headers, 'content-type': 'application/merge-patch+json' }
    this.#api = new Pool(task.apiURL, { connections: CONNECTIONS.api })
  }

  async run(): Promise<BareReport> {
    const began = performance.now()
    const cpu = process.cpuUsage()
    if (this.#task.job === 'list') await this.#list()
    else {
      const groups = Array.from({ length: this.#task.groups }, (_, group) => group)
      await inParallel(groups, AT_ONCE, (group) => this.#make(group))
    }
    const seconds = (performance.now() - began) / 1000
    const { user, system } = process.cpuUsage(cpu)
    await Promise.all([this.#kubernetes.close(), this.#api.close()])
    return { seconds, cpuSeconds: (user + system) / 1_000_000, requests: this.#requests }
  }

  /** Each page names the next, so that they are asked for one after another. */
  async #list(): Promise<void> {
    const kinds = new Set(this.#load.manifests(0).map(({ kind }) => kind))
    const collections = new Set(this.#load.creates(0).map(({ path }) => path))
    const { namespace, apiKey } = this.#task
    const ofKinds = [...kinds].map(async (kind) => {
      const path = `/apis/culvert.dev/v1alpha1/namespaces/${namespace}/${typeOf(kind).plural}?limit=500`
      for (let next = ''; ; ) {
        const from = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
        const headers = this.#kubernetesHeaders
        const { metadata } = await this.#send(this.#kubernetes, { method: 'GET', path: `${path}${from}`, headers })
        next = (metadata as { readonly continue?: string }).continue ?? ''
        if (next === '') return
      }
    })
    const ofCollections = [...collections].map(async (path) => {
      const headers = { ...HEADERS, authorization: `Bearer ${apiKey}` }
      for (let next: string | null = path; next !== null; ) {
        const page: Answer = await this.#send(this.#api, { method: 'GET', path: next, headers })
        const { pathname, search } = new URL(String(page.next_page_uri ?? ''), this.#task.apiURL)
        next = page.next_page_uri === null ? null : `${pathname}${search}`
      }
    })
    await Promise.all([...ofKinds, ...ofCollections])
  }

  async #make(group: number): Promise<void> {
    const made: Promise<Answer>[] = []
    for (const create of this.#load.creates(group)) made.push(this.#create(group, create, made))
    const answers = await Promise.all(made)
    await Promise.all(
      this.#load.creates(group).map(async ({ manifest }, index) => {
        if (manifest !== undefined) await this.#patch(group, manifest, statusOf(answers[index]), '/status')
      }),
    )
  }

  async #create(group: number, create: Create, made: readonly Promise<Answer>[]): Promise<Answer> {
    const { path, body, manifest, needs = [] } = create
    const needed = await Promise.all(needs.map((index) => made[index]))
    if (manifest !== undefined) await this.#patch(group, manifest, { metadata: MARKED })
    const sent = filled(JSON.stringify({ ...body, metadata: MARKER }), needs, needed)
    const headers = { ...HEADERS, authorization: `Bearer ${this.#task.apiKey}` }
    return this.#send(this.#api, { method: 'POST', path, headers, body: sent })
  }

  async #patch(group: number, manifest: number, patch: object, part = ''): Promise<void> {
    const { kind, name } = this.#load.manifests(group)[manifest] ?? { kind: '', name: '' }
    const path = `/apis/culvert.dev/v1alpha1/namespaces/${this.#task.namespace}/${typeOf(kind).plural}/${name}${part}`
    await this.#send(this.#kubernetes, {
      method: 'PATCH',
      path,
      headers: this.#kubernetesHeaders,
      body: JSON.stringify(patch),
    })
  }

  async #send(pool: Pool, request: Dispatcher.RequestOptions): Promise<Answer> {
    this.#requests += 1
    const { statusCode, body } = await pool.request(request)
    const answer = await body.text()
    if (statusCode >= 300) throw new Error(`${request.method} ${request.path} was answered ${statusCode}: ${answer}`)
    return JSON.parse(answer) as Answer
  }
}

type Answer = Readonly<Record<string, unknown>>

/** As long as what the operator writes there. */
const MARKER = JSON.stringify({ culvert: { installation: 'bench', uid: '0'.repeat(36), nonce: '0'.repeat(32) } })
const MARKED = { finalizers: ['culvert.dev/remote-object'], annotations: { 'bench.culvert.dev/attempt': MARKER } }

function statusOf(answer: Answer | undefined): object {
  const at = new Date().toISOString().replace(/\.\d+/, '')
  const condition = (type: string) => {
    return { type, status: 'True', reason: 'Available', message: '', observedGeneration: 1, lastTransitionTime: at }
  }
  const { id } = answer ?? {}
  return { status: { id, observedGeneration: 1, conditions: [condition('Ready'), condition('Synced')] } }
}

/** `{0}` is the id of the object that the call 0 made, `{0.addr}` another of its fields. */
function filled(body: string, needs: readonly number[], answers: readonly (Answer | undefined)[]): string {
  return body.replaceAll(/\{(\d)(?:\.(\w+))?\}/g, (_, call: string, field = 'id') => {
    return String(answers[needs.indexOf(Number(call))]?.[field])
  })
}

const task = JSON.parse(await text(process.stdin)) as BareTask
const load = loads.find(({ name }) => name === task.load)
if (load === undefined) throw new Error(`there is no load ${task.load}`)
const connection = loadKubeConnection({ kubeconfig: task.kubeconfig })
const { headers, tls } = await connection.material()
const kubernetes = new Pool(connection.server, { connections: CONNECTIONS.kubernetes, connect: tls })
console.log(JSON.stringify(await new BareClient(task, load, kubernetes, headers).run()))
