import { Command } from 'commander'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { parseResources } from './cluster/resource-argument.ts'
import { duration } from './flags.ts'
import { followRequest } from './requests/follow.ts'
import { sendRequest, type Verb } from './requests/request.ts'
import { wrap } from './terminal/line.ts'

/** Flags of the requests. */
export interface RequestFlags extends ClusterFlags {
  readonly wait: boolean
  readonly timeout: number
}

/** `culvert reconcile`: reads an object now. */
export function reconcileCommand(): Command {
  return requestCommand('reconcile', {
    description:
      'Read the object of a resource, or list an account, now instead of at the next resync, and correct what differs ' +
      'from the spec.',
    examples: ['culvert reconcile edge/shop --wait', 'culvert reconcile account/default -n web'],
  })
}

/** `culvert pause`: leaves a resource alone. */
export function pauseCommand(): Command {
  return requestCommand('pause', {
    description: 'Leave a resource and its object at the API alone, including a deletion, until it is resumed.',
    examples: ['culvert pause edge/shop', 'culvert pause edge shop -n web --wait'],
  })
}

/** `culvert resume`: ends a pause. */
export function resumeCommand(): Command {
  return requestCommand('resume', {
    description: 'End a pause: Culvert goes on with the resource as its spec says.',
    examples: ['culvert resume edge/shop --wait'],
  })
}

/** `culvert rotate`: issues a new token. */
export function rotateCommand(): Command {
  return requestCommand('rotate', {
    description:
      'Put a new token into the Secret of an APIKey or TunnelCredential now. The former one keeps working during the ' +
      'overlap.',
    examples: ['culvert rotate apikey/ci', 'culvert rotate tunnelcredential/shop -n web --wait --timeout 5m'],
  })
}

const EXIT_CODES = `
Exit codes: 0 done, with --wait also at rest; 1 refused, or stalled until a person acts; 2 not at rest within --timeout.`

function requestCommand(
  verb: Verb,
  { description, examples }: { readonly description: string; readonly examples: readonly string[] },
): Command {
  return clusterOptions(new Command(verb))
    .description(description)
    .argument('<resource...>', 'KIND/NAME, any number of them, or KIND NAME; a kind may be plural or a short name')
    .option('--wait', 'show the conditions as they change, until the resource is at rest', false)
    .option('--timeout <time>', 'how long --wait waits for each resource', duration, 120_000)
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}${EXIT_CODES}`)
    .action((args: readonly string[], flags: RequestFlags) => {
      return askCluster(flags, (cluster) => runRequests(cluster, verb, args, flags))
    })
}

/** @returns the exit code of the process */
export async function runRequests(
  cluster: Cluster,
  verb: Verb,
  args: readonly string[],
  flags: RequestFlags,
): Promise<number> {
  const { out, scope } = cluster
  const codes: number[] = []
  for (const resource of parseResources(args, scope)) {
    const sent = await sendRequest(cluster, { verb, resource })
    for (const line of wrap(sent.summary, out.width, '  ')) out.print(line)
    codes.push(flags.wait ? await followRequest(cluster, sent, flags.timeout) : 0)
  }
  return Math.max(...codes)
}
