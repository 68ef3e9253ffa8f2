import { Command } from 'commander'
import { ApiError } from '../api/errors.ts'
import { readEnvironment } from '../config.ts'
import { type AccountResource, nameOfAccount } from '../managed/account-resource.ts'
import { shortName } from '../managed/cr.ts'
import { resourceTypeOf } from '../managed/kinds-registry.ts'
import { counted } from '../util/printable.ts'
import { openAccount } from './account-client.ts'
import { readAccess } from './cluster/account-access.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { CommandError } from './cluster/command-error.ts'
import { leaderOf, type OperatorFlags, operatorNamespaceOf, operatorOptions } from './cluster/operator-lease.ts'
import type { StatedResource } from './cluster/resource-state.ts'
import { Snapshot } from './cluster/snapshot.ts'
import { type OutputFlags, outputOption } from './flags.ts'
import { type CheckedOrphan, checkOrphans, type Removal, removeOrphan, reportedOrphans } from './orphans/orphans.ts'
import { tableLines } from './terminal/table.ts'
import { confirm } from './terminal/terminal.ts'

/** Flags of `culvert orphans`. */
export interface OrphansFlags extends ClusterFlags, OutputFlags, OperatorFlags {
  readonly delete: boolean
  readonly yes: boolean
}

/** `culvert orphans`: objects of resources that no longer exist. */
export function orphansCommand(): Command {
  return outputOption(operatorOptions(clusterOptions(new Command('orphans'))))
    .description(
      'List the objects at the API that Culvert created for resources that no longer exist, as the operator found them ' +
        'at its last resync, with what refers to each; for the Accounts of the namespace and all ClusterAccounts.',
    )
    .option('--delete', 'delete them at the API, after a question', false)
    .option('--yes', 'with --delete: do not ask', false)
    .addHelpText('after', '\nExamples:\n  culvert orphans -n web\n  culvert orphans --delete\n')
    .action((flags: OrphansFlags) => askCluster(flags, (cluster) => runOrphans(cluster, flags)))
}

/** One account with orphans. */
interface AccountOrphans {
  readonly account: StatedResource & AccountResource
  readonly orphans: readonly CheckedOrphan[]
}

/** @returns the exit code of the process */
export async function runOrphans(cluster: Cluster, flags: OrphansFlags): Promise<number> {
  if (flags.delete && flags.output === 'json') {
    throw new CommandError('BadArgument', '--delete writes no JSON', 'culvert orphans --delete')
  }
  const { clock, kube, out } = cluster
  const operatorNamespace = operatorNamespaceOf(flags, await leaderOf(kube, clock, flags))
  const found: AccountOrphans[] = []
  for (const account of await readAccounts(cluster)) {
    if (reportedOrphans(account).length === 0) continue
    found.push({ account, orphans: await check(cluster, account, operatorNamespace) })
  }
  if (flags.output === 'json') {
    out.json(found.map(jsonOf))
    return 0
  }
  for (const each of found) print(cluster, each)
  if (found.length === 0) out.print('There are no orphans.')
  if (!flags.delete || found.length === 0) return 0
  return await remove(cluster, found, { operatorNamespace, isSure: flags.yes })
}

async function readAccounts({
  kinds,
  kube,
  namespace,
}: Cluster): Promise<readonly (StatedResource & AccountResource)[]> {
  const lists = kinds.accounts.map((descriptor) => {
    return kube.listAll<StatedResource & AccountResource>(resourceTypeOf(descriptor), [namespace])
  })
  return (await Promise.all(lists)).flat()
}

/** How long a request may take, in milliseconds. */
const ANSWER_MS = 10_000

/** @param mayWrite whether objects are to be deleted */
async function open(
  cluster: Cluster,
  account: StatedResource & AccountResource,
  { operatorNamespace, mayWrite }: { readonly operatorNamespace: string; readonly mayWrite: boolean },
) {
  const access = await readAccess(cluster, account, operatorNamespace)
  if (access.type === 'closed') {
    throw new CommandError('Refused', `${shortName(nameOfAccount(account))}: ${access.message}`, 'culvert doctor')
  }
  const { proxies } = readEnvironment()
  return openAccount(access.config, { clock: cluster.clock, proxies, timeoutMs: ANSWER_MS, mayWrite })
}

async function check(
  cluster: Cluster,
  account: StatedResource & AccountResource,
  operatorNamespace: string,
): Promise<readonly CheckedOrphan[]> {
  const { kinds, kube } = cluster
  const client = await open(cluster, account, { operatorNamespace, mayWrite: false })
  try {
    return await checkOrphans({ kinds, client, snapshot: new Snapshot(kinds, kube) }, reportedOrphans(account))
  } catch (error) {
    throw ofAPI(account, error)
  } finally {
    await client.close()
  }
}

function ofAPI(account: AccountResource, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const message = `the API of ${shortName(nameOfAccount(account))}: ${error.message}`
  return new CommandError('Refused', message, 'culvert doctor', { cause: error })
}

const COLUMNS = [
  { heading: 'OBJECT' },
  { heading: 'KIND' },
  { heading: 'NAMESPACE', shrinksTo: 9 },
  { heading: 'NAME', shrinksTo: 8 },
  { heading: 'USED BY' },
] as const

function print({ out }: Cluster, { account, orphans }: AccountOrphans): void {
  const { orphanCount = orphans.length } = account.status ?? {}
  const place = account.metadata.namespace === undefined ? '' : ` in namespace ${account.metadata.namespace}`
  out.print({ text: `${shortName(nameOfAccount(account))}${place}`, style: 'bold' })
  const rows = orphans.map((each) => {
    const { collection, id, kind, namespace, name } = each.orphan
    const used = each.type === 'settled' ? `(${each.why})` : each.usedBy.join(', ') || '-'
    return [`${collection}/${id}`, kind, namespace || '-', name, used].map((text) => ({ text }))
  })
  for (const line of tableLines(COLUMNS, rows, out.tableWidth)) out.print(line)
  if (orphanCount > orphans.length) out.print(`${orphanCount - orphans.length} more are not listed in the status.`)
}

async function remove(
  cluster: Cluster,
  found: readonly AccountOrphans[],
  { operatorNamespace, isSure }: { readonly operatorNamespace: string; readonly isSure: boolean },
): Promise<number> {
  const { err, out } = cluster
  const count = found.flatMap(({ orphans }) => orphans.filter(({ type }) => type === 'orphan')).length
  if (count === 0) return 0
  const answer = isSure || (await confirm(`Delete ${counted(count, 'object')} at the API? There is no way back.`))
  if (answer === undefined) {
    throw new CommandError(
      'BadArgument',
      '--delete cannot ask, since the input is no terminal',
      'culvert orphans --delete --yes',
    )
  }
  if (!answer) {
    err.print('Nothing was deleted.')
    return 1
  }
  const { kinds, kube } = cluster
  let failed = 0
  for (const { account, orphans } of found) {
    const client = await open(cluster, account, { operatorNamespace, mayWrite: true })
    try {
      for (const { orphan, type } of orphans) {
        if (type === 'settled') continue
        const object = `${orphan.collection}/${orphan.id}`
        try {
          const removal = await removeOrphan({ kinds, client, snapshot: new Snapshot(kinds, kube) }, orphan)
          out.print(`${object}: ${removalText(removal)}`)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          failed += 1
          err.print(`${object}: ${error.message}`)
        }
      }
    } finally {
      await client.close()
    }
  }
  return failed === 0 ? 0 : 1
}

function removalText(removal: Removal): string {
  return removal.type === 'settled' ? `left alone: ${removal.why}` : removal.type
}

/** Orphans for programs. */
function jsonOf({ account, orphans }: AccountOrphans): unknown {
  const { kind, metadata, status } = account
  return {
    account: { kind, namespace: metadata.namespace, name: metadata.name },
    count: status?.orphanCount ?? orphans.length,
    orphans: orphans.map((each) => ({
      ...each.orphan,
      ...(each.type === 'orphan' ? { usedBy: each.usedBy } : { settled: each.why }),
    })),
  }
}
