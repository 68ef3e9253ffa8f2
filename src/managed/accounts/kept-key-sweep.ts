import { KubeError } from '../../kube/kube-error.ts'
import type { KubeClient, KubeObject } from '../../kube/types.ts'
import { type Clock, sleep } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { type KeptKeys, keptFor } from './kept-key.ts'

/** Pause before a retry when a call to Kubernetes fails. Milliseconds. */
const RETRY_MS = 60_000

export interface KeptKeySweepOptions {
  readonly kinds: KindsRegistry
  readonly kube: KubeClient
  readonly keptKeys: KeptKeys
  /** UIDs of the Accounts and ClusterAccounts of the whole cluster, as the watches have reported them. */
  readonly known: () => ReadonlySet<string>
  /** Secrets of the operator's namespace, as the watch has reported them. */
  readonly secrets: () => readonly KubeObject[]
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Deletes keys kept for accounts that are gone: an Account whose finalizer was removed by hand leaves one behind if no
 * operator sees its deletion. Only for an operator that watches the whole cluster, once when it becomes the leader:
 * accounts that an operator of some namespaces does not see may belong to another operator. Makes no call if there is
 * nothing to delete.
 */
export async function sweepKeptKeys(options: KeptKeySweepOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await sweepOnce(options)
      return
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      if (error.code === 'NotLeader' || error.code === 'Aborted') return
      options.logger.warn({ err: error }, 'kept keys of deleted accounts cannot be deleted yet')
      await sleep(options.clock, RETRY_MS, signal).catch(() => undefined)
    }
  }
}

async function sweepOnce({ kinds, kube, keptKeys, known, secrets }: KeptKeySweepOptions): Promise<void> {
  const seen = known()
  const left = secrets().flatMap((secret) => keptFor(secret) ?? [])
  const candidates = left.filter((uid) => !seen.has(uid))
  if (candidates.length === 0) return
  // The watches may lag behind: an account that exists needs its key.
  const live = await liveAccounts(kinds, kube)
  for (const uid of candidates) if (!live.has(uid)) await keptKeys.forget(uid)
}

async function liveAccounts(kinds: KindsRegistry, kube: KubeClient): Promise<ReadonlySet<string>> {
  const uids = new Set<string>()
  for (const { definition } of kinds.accounts) {
    const type = { ...kinds.accountType(definition.kind), metadataOnly: true }
    let next: string | undefined
    do {
      const page = await kube.list(type, { limit: 500, ...(next === undefined ? {} : { continue: next }) })
      for (const { metadata } of page.items) uids.add(metadata.uid)
      next = page.continue
    } while (next !== undefined && next !== '')
  }
  return uids
}
