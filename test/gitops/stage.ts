import { expect } from 'vitest'
import { createKubectl } from '../../controlplane/kubectl.ts'
import { AuditLog } from '../cluster/support/audit-log.ts'
import { until } from '../cluster/support/wait.ts'
import { World, type WorldOptions } from '../cluster/support/world.ts'
import { type Files, Repository } from './tools/repository.ts'
import type { Delivery, Tool, ToolCluster } from './tools/tool.ts'

/** Longer than a tool waits for what it has applied, and then until it tries again. */
const PATIENCE_MS = 300_000

/** A tool that applies a repository to the namespace of a world. */
export class Stage implements AsyncDisposable {
  readonly world: World
  readonly repository: Repository
  readonly delivery: Delivery
  readonly tool: Tool
  readonly #cluster: ToolCluster
  readonly #resources: AsyncDisposableStack
  #mark = { api: 0, log: 0 }

  private constructor(
    parts: Pick<Stage, 'world' | 'repository' | 'delivery' | 'tool'>,
    cluster: ToolCluster,
    resources: AsyncDisposableStack,
  ) {
    this.world = parts.world
    this.repository = parts.repository
    this.delivery = parts.delivery
    this.tool = parts.tool
    this.#cluster = cluster
    this.#resources = resources
  }

  static async open(
    tool: Tool,
    cluster: ToolCluster,
    options: WorldOptions,
    files: (world: World) => Promise<Files>,
  ): Promise<Stage> {
    await using resources = new AsyncDisposableStack()
    const world = resources.use(await World.open({ ...options, kubeconfig: cluster.kubeconfig }))
    const repository = resources.use(await Repository.create())
    await repository.commit(await files(world))
    const delivery = await tool.deliver({ namespace: world.namespace, repository })
    return new Stage({ world, repository, delivery, tool }, cluster, resources.move())
  }

  /** Commits files, and has the tool look at them. */
  async commit(files: Files): Promise<void> {
    await this.repository.commit(files)
    await this.delivery.sync()
  }

  async revert(): Promise<void> {
    await this.repository.revert()
    await this.delivery.sync()
  }

  /** What a person does with kubectl in the namespace. */
  async kubectl(...args: readonly string[]): Promise<void> {
    const { kubectlPath: path, kubeconfig } = this.#cluster
    const { code, stderr } = await createKubectl({ path, kubeconfig }).run([...args, '-n', this.world.namespace])
    expect(code, stderr).toBe(0)
  }

  /** Waits until the tool shows a state, and returns its words, without what differs between two runs. */
  async shows(state: string): Promise<string> {
    const look = async () => {
      const shown = await this.delivery.shown()
      return shown.isCurrent && shown.state === state ? shown : undefined
    }
    const describe = async () => ({ shown: await this.delivery.shown(), log: this.tool.log })
    const { message } = await until(`${this.tool.name} shows ${state}`, look, { timeoutMs: PATIENCE_MS, describe })
    return this.#masked(message)
  }

  /** Begins to watch for writes. */
  async quietFromNow(): Promise<void> {
    this.#mark = { api: this.world.mark(), log: await AuditLog.ofSuite().mark() }
  }

  /**
   * Nothing was written since, neither at the API nor, by the tool or the operator, in the namespace; and the operator
   * read nothing at the API but lists.
   */
  async expectQuiet(): Promise<void> {
    const requests = this.world.journal(this.#mark.api).map(({ method, path }) => `${method} ${path}`)
    expect(requests.filter((request) => !/^GET [a-z_/]+(\?|$)/.test(request))).toEqual([])
    const audit = AuditLog.ofSuite()
    const { namespace } = this.world
    expect(await audit.operatorWrites([namespace], this.#mark.log)).toEqual([])
    const byTool = (await audit.entries(this.#mark.log)).filter(({ userAgent, verb, resource, ...entry }) => {
      const isWrite = /^(create|update|patch|delete)/.test(verb) && !entry.isDryRun
      const isReport = resource === 'kustomizations' || resource === 'applications' || resource === 'events'
      return isWrite && !isReport && entry.namespace === namespace && userAgent.startsWith(this.tool.userAgent)
    })
    expect(byTool).toEqual([])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync()
  }

  #masked(text: string): string {
    return text
      .replaceAll(this.world.namespace, 'shop')
      .replaceAll(this.repository.head, 'HEAD')
      .replaceAll(/\b\d+(\.\d+)?(ms|s)\b/g, '…s')
      .replaceAll(/\b([a-z]+)_[0-9A-Za-z]{16,}\b/g, '$1_…')
  }
}
