import { createKubeClient } from '../../kube/client.ts'
import { loadKubeConnection } from '../../kube/load-config.ts'
import type { KubeObject, ResourceType } from '../../kube/types.ts'
import { nameText, type ResourceName } from '../../managed/cr.ts'
import { Reflector } from '../../runtime/reflector.ts'
import type { Clock } from '../../util/clock.ts'
import { createLogger } from '../../util/logger.ts'
import type { Random } from '../../util/random.ts'
import { type Row, rowOf } from './state-table.ts'

export interface FollowOptions {
  readonly kubeconfig: string
  /** Types of the resources to follow. */
  readonly types: readonly ResourceType[]
  /** The resources to wait for, in the order of the rows. */
  readonly resources: readonly ResourceName[]
  readonly clock: Clock
  readonly random: Random
  /** Called with all rows at the start and after each change. */
  readonly onRows: (rows: readonly Row[]) => void
}

/**
 * Watches resources until all are Ready, or until `signal` is aborted.
 *
 * @returns the final rows.
 */
export async function followUntilReady(options: FollowOptions, signal: AbortSignal): Promise<readonly Row[]> {
  const { clock, random } = options
  const client = createKubeClient({ connection: loadKubeConnection({ kubeconfig: options.kubeconfig }), clock, random })
  const ended = new AbortController()
  const stop = AbortSignal.any([signal, ended.signal])
  const reflectors = options.types.map((type) => {
    return new Reflector<KubeObject>({ client, type, clock, random, logger: createLogger('silent') })
  })
  const board = new Board(options)
  for (const reflector of reflectors) {
    reflector.subscribe(({ type, object }) => {
      board.set(object, type === 'deleted' ? undefined : object)
      if (board.allReady) ended.abort()
    })
  }
  try {
    board.show()
    await Promise.all(reflectors.map((reflector) => reflector.start(stop)))
  } finally {
    await client.close()
  }
  return board.rows
}

/** The rows, and whether all are Ready. */
class Board {
  readonly #options: FollowOptions
  readonly #seen = new Map<string, KubeObject | undefined>()

  constructor(options: FollowOptions) {
    this.#options = options
  }

  get rows(): readonly Row[] {
    return this.#options.resources.map((resource) => rowOf(resource, this.#seen.get(nameText(resource))))
  }

  get allReady(): boolean {
    return this.rows.every(({ ready }) => ready)
  }

  set({ kind, metadata: { namespace, name } }: KubeObject, object: KubeObject | undefined): void {
    this.#seen.set(nameText({ kind, namespace, name }), object)
    this.show()
  }

  show(): void {
    this.#options.onRows(this.rows)
  }
}
