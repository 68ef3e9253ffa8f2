import type { JournalEntry } from '../../../../src/emulator/http/journal.ts'
import { EmulatorClient } from '../../../builders/emulator-client.ts'
import type { InstalledCluster } from './installed-cluster.ts'
import type { PodProcess } from './pod-process.ts'

/**
 * The chart's emulator from outside the cluster: as another client with the account's key, and through its admin
 * surface.
 */
export class AccountAtEmulator implements AsyncDisposable {
  /** Its address for the operator. */
  readonly url: string
  readonly apiKey: string
  readonly #api: EmulatorClient
  readonly #admin: EmulatorClient
  readonly #process: PodProcess

  private constructor(process: PodProcess, url: string, address: string, apiKey: string, adminToken: string) {
    this.#process = process
    this.url = url
    this.apiKey = apiKey
    this.#api = new EmulatorClient(address, apiKey)
    this.#admin = new EmulatorClient(`${address}/_emulator`, adminToken)
  }

  /** Runs the emulator of a release; resolves once it answers. */
  static async run(cluster: InstalledCluster, release: string, namespace: string): Promise<AccountAtEmulator> {
    const name = `${release}-emulator`
    const process = await cluster.run('deployment', name, namespace)
    const [, address = '', port = ''] = await process.printed(/listening on (http:\/\/[\d.]+:(\d+))/)
    const [apiKey, adminToken] = await Promise.all(
      ['apiKey', 'adminToken'].map((key) => cluster.secret(name, namespace, key)),
    )
    const url = `http://${name}.${namespace}.svc:${port}`
    return new AccountAtEmulator(process, url, address, apiKey ?? '', adminToken ?? '')
  }

  /** Number of the latest request; pass it to `writes` to see only later ones. */
  async mark(): Promise<number> {
    return (await this.#journal(0)).at(-1)?.seq ?? 0
  }

  /** Later requests that change something: method and path. */
  async writes(since: number): Promise<readonly string[]> {
    return (await this.#journal(since))
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path }) => `${method} ${path}`)
  }

  /** The first page of a collection. */
  async objects(path: string): Promise<readonly Record<string, unknown>[]> {
    const { body } = await this.#api.get(`/${path}`)
    return (Object.values(body).find(Array.isArray) ?? []) as Record<string, unknown>[]
  }

  /** Deletes an object without the operator. */
  async remove(path: string): Promise<void> {
    const { status } = await this.#api.delete(`/${path}`)
    if (status !== 204) throw new Error(`DELETE /${path} was answered ${status}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]()
  }

  async #journal(since: number): Promise<readonly JournalEntry[]> {
    const { status, body } = await this.#admin.get(`/journal?since=${since}`)
    if (status !== 200) throw new Error(`the journal was answered ${status}`)
    return (Object.values(body).find(Array.isArray) ?? []) as JournalEntry[]
  }
}
