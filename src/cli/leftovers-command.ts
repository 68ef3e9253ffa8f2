import { Command } from 'commander'
import { readEnvironment } from '../config.ts'
import { kinds } from '../kinds/index.ts'
import { createKubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/kube-error.ts'
import { type KubeConnection, loadKubeConnection } from '../kube/load-config.ts'
import { KindsRegistry } from '../managed/kinds-registry.ts'
import { findLeftovers, type Leftovers } from '../managed/uninstall/leftovers.ts'
import { systemClock } from '../util/clock.ts'
import { systemRandom } from '../util/random.ts'
import { collect, connectionOptions } from './flags.ts'
import { standardTerminals } from './terminal/terminal.ts'

interface Flags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly watchNamespace: readonly string[]
  readonly allow: boolean
}

/** Input of `runLeftovers`. */
export interface LeftoversRequest {
  readonly connection: KubeConnection
  readonly namespaces: readonly string[]
  /** Whether leftovers are reported without being a failure. */
  readonly allow: boolean
  /** Prints a line for the caller. */
  readonly print: (line: string) => void
}

/** How many resources of each kind are named. */
const NAMED = 10

/** `culvert leftovers`: which resources could not be deleted if the operator were removed now. Changes nothing. */
export function leftoversCommand(): Command {
  return connectionOptions(new Command('leftovers'))
    .description('List the resources that could not be deleted without an operator; exit with code 1 if there are any.')
    .option('--watch-namespace <name>', 'check only this namespace (repeatable; default: all)', collect, [])
    .option('--allow', 'exit with code 0 even if there are any', false)
    .action(async ({ kubeconfig, context, watchNamespace: namespaces, allow }: Flags) => {
      const connection = loadKubeConnection({ ...readEnvironment(), kubeconfig, context })
      process.exitCode = await runLeftovers({
        connection,
        namespaces,
        allow,
        print: standardTerminals().out.print,
      })
    })
}

/** @returns the exit code: 1 when there are leftovers that are not allowed. */
export async function runLeftovers({ connection, namespaces, allow, print }: LeftoversRequest): Promise<number> {
  const kube = createKubeClient({ connection, clock: systemClock, random: systemRandom })
  try {
    const found = await findLeftovers({ kube, kinds: new KindsRegistry(kinds), namespaces })
    if (found.length === 0) {
      print('Nothing is left that needs an operator to be deleted.')
      return 0
    }
    for (const leftovers of found) print(lineOf(leftovers))
    const count = found.reduce((sum, { names }) => sum + names.length, 0)
    const everywhere = namespaces.length === 0 ? '--all-namespaces' : '-n <namespace>'
    print(
      `Without an operator none of these can be deleted (${count}), and their namespaces hang. While it runs, either`,
    )
    print(`  delete them, with their objects at the API:  kubectl delete culvert --all ${everywhere}`)
    print('  or release them, and keep the objects:       stop the operator, then run culvert operator --release')
    return allow ? 0 : 1
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    print(`Could not look for resources that need an operator: ${error.message}`)
    return 1
  } finally {
    await kube.close()
  }
}

function lineOf({ kind, names }: Leftovers): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return `${kind}: ${names.slice(0, NAMED).join(', ')}${more}`
}
