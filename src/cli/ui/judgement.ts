import { isIP } from 'node:net'
import { ApiError } from '../../api/errors.ts'
import type { Environment } from '../../config.ts'
import { judge, verdictOf } from '../../judging/judge.ts'
import type { StepKind } from '../../judging/world.ts'
import type { ResourceName } from '../../managed/cr.ts'
import { readWorld } from '../check/account-world.ts'
import { viewsOfCluster } from '../check/open-account.ts'
import type { Cluster } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import type { OperatorFlags } from '../cluster/operator-lease.ts'

/** What becomes of a connection to an edge, as `culvert check` says it. */
export interface Judgement {
  readonly from: string
  readonly verdict: ReturnType<typeof verdictOf>
  readonly steps: readonly {
    readonly kind: StepKind
    readonly outcome: string
    readonly text: string
    readonly rule: string | undefined
    /** What decides, and when it was read. */
    readonly source: string | undefined
    readonly command: string | undefined
    readonly details: readonly string[]
  }[]
}

/**
 * Judges a connection from an address, on a person's request only: the account is read, if its key may be.
 *
 * @throws CommandError `BadArgument` for what is no address
 */
export async function judgementOf(
  cluster: Cluster,
  edge: ResourceName,
  {
    from,
    flags,
    environment,
  }: { readonly from: string; readonly flags: OperatorFlags; readonly environment: Environment },
): Promise<Judgement> {
  if (isIP(from) === 0) {
    throw new CommandError('BadArgument', `${from} is not an IP address: enter one such as 203.0.113.7 or 2001:db8::1`)
  }
  const [descriptor] = cluster.kinds.managed.filter(({ definition }) => definition.kind === edge.kind)
  if (descriptor === undefined) throw new Error(`${edge.kind} is a kind of Culvert`)
  const subject = { descriptor, name: edge.name, namespace: edge.namespace }
  const viewFlags = { ...flags, filename: [], manifestsAlone: false }
  const viewOf = await viewsOfCluster(cluster, environment, viewFlags)
  const opened = await viewOf(subject)
  try {
    const world = await readWorld(opened.view, opened.edgeOf(subject, undefined))
    const steps = judge(world, { source: from, at: cluster.clock.now() })
    return {
      from,
      verdict: verdictOf(steps),
      steps: steps.map(({ kind, outcome, text, rule, source, details = [] }) => {
        const read = source && (source.at === undefined ? source.name : `${source.name}, ${source.at}`)
        return { kind, outcome, text, rule, source: read, command: source?.command, details }
      }),
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CommandError('Unreachable', `the account cannot be read: ${error.message}`, undefined, { cause: error })
  } finally {
    await opened.close()
  }
}
