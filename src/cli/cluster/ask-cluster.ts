import type { Command } from 'commander'
import { readEnvironment } from '../../config.ts'
import { kinds } from '../../kinds/index.ts'
import { type ClosableKubeClient, createKubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/kube-error.ts'
import { type KubeConnection, loadKubeConnection } from '../../kube/load-config.ts'
import { KindsRegistry } from '../../managed/kinds-registry.ts'
import { type Clock, systemClock } from '../../util/clock.ts'
import { systemRandom } from '../../util/random.ts'
import { connectionOptions } from '../flags.ts'
import { standardTerminals, type Terminals } from '../terminal/terminal.ts'
import { CommandError } from './command-error.ts'
import { ExplainedClient } from './explained-client.ts'
import type { ResourceScope } from './resource-argument.ts'

/** The flags by which a command finds a cluster and a namespace. */
export interface ClusterFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
}

/** A cluster, as a command asks it. */
export interface Cluster extends Terminals {
  readonly kube: ExplainedClient
  /** A client with the rights of another user, if the caller may impersonate that; to be closed. */
  readonly impersonate: (user: string) => ClosableKubeClient
  readonly kinds: KindsRegistry
  /** The namespace in which named resources are looked up. */
  readonly namespace: string
  readonly scope: ResourceScope
  readonly clock: Clock
}

/** Adds the flags of `ClusterFlags` to a command. */
export function clusterOptions(command: Command): Command {
  return connectionOptions(command).option(
    '-n, --namespace <name>',
    'namespace of the resource (default: that of the context, or default)',
  )
}

/**
 * Runs a command against a cluster and sets the exit code: that of `run`, or 1 with a message for an error that a
 * person can mend.
 */
export async function askCluster(flags: ClusterFlags, run: (cluster: Cluster) => Promise<number>): Promise<void> {
  const terminals = standardTerminals()
  try {
    process.exitCode = await withCluster(flags, terminals, run)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    for (const line of error.lines) terminals.err.print(line)
    process.exitCode = 1
  }
}

/**
 * Calls `run` with the cluster that the flags name, and closes the connection afterwards.
 *
 * @throws CommandError `NoCluster` if there is none to connect to
 */
export async function withCluster<T>(
  flags: ClusterFlags,
  { out, err }: Terminals,
  run: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const connection = connect(flags)
  const options = { clock: systemClock, random: systemRandom, maxRetries: 1 }
  const kube = createKubeClient({ ...options, connection })
  const impersonate = (user: string): ClosableKubeClient => {
    return createKubeClient({ ...options, connection: impersonating(connection, user) })
  }
  const namespace = flags.namespace ?? connection.namespace ?? 'default'
  try {
    return await run({
      kube: new ExplainedClient(kube, connection.server),
      impersonate,
      kinds: new KindsRegistry(kinds),
      namespace,
      scope: { kinds, namespace },
      clock: systemClock,
      out,
      err,
    })
  } finally {
    await kube.close()
  }
}

function impersonating(connection: KubeConnection, user: string): KubeConnection {
  return {
    ...connection,
    reload: () => connection.reload(),
    material: async () => {
      const { headers, tls } = await connection.material()
      return { headers: { ...headers, 'Impersonate-User': user }, tls }
    },
  }
}

function connect({ kubeconfig, context }: ClusterFlags): KubeConnection {
  try {
    return loadKubeConnection({ ...readEnvironment(), kubeconfig, context })
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    const command = context === undefined ? 'kubectl config view --minify' : 'kubectl config get-contexts'
    throw new CommandError('NoCluster', error.message, command, { cause: error })
  }
}
