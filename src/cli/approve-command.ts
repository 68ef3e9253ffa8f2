import { Command } from 'commander'
import type { ObjectKey } from '../kube/types.ts'
import type { PendingPlan } from '../managed/descriptor/pending-plan.ts'
import { resourceTypeOf } from '../managed/kinds-registry.ts'
import { APPROVED_PLAN } from '../managed/names.ts'
import { counted } from '../util/printable.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { CommandError } from './cluster/command-error.ts'
import { readNamed } from './cluster/read-named.ts'
import {
  argumentsFor,
  argumentText,
  fullPlural,
  parseResource,
  type ResourceArgument,
} from './cluster/resource-argument.ts'
import type { StatedResource } from './cluster/resource-state.ts'
import { duration, namespaceFlag } from './flags.ts'
import { type Action, changeLine, headLines, linesBelow, type Paper } from './plan/request-lines.ts'
import { followRequest } from './requests/follow.ts'
import { type Line, wrap } from './terminal/line.ts'
import { confirm } from './terminal/terminal.ts'

/** Flags of `culvert approve`. */
export interface ApproveFlags extends ClusterFlags {
  readonly plan?: string
  readonly yes: boolean
  readonly wait: boolean
  readonly timeout: number
}

type Planned = StatedResource & {
  readonly spec?: {
    readonly managementPolicy?: string
    readonly accountRef?: { readonly kind?: string; readonly name?: string }
  }
  readonly status?: { readonly plan?: PendingPlan }
}

/** `culvert approve`: lets the plan of a resource run. */
export function approveCommand(): Command {
  return clusterOptions(new Command('approve'))
    .description(
      'Show the pending plan of a resource with managementPolicy: Plan, and approve exactly that plan after ' +
        'confirmation. A plan that changes in the meantime needs another approval.',
    )
    .argument('<resource...>', 'KIND/NAME, or KIND NAME; a kind may be plural or a short name')
    .option('--plan <hash>', 'approve only the plan with this hash (status.plan.hash)')
    .option('--yes', 'do not ask', false)
    .option('--wait', 'show the conditions as they change, until the resource is up to date', false)
    .option('--timeout <time>', 'how long --wait waits', duration, 120_000)
    .addHelpText(
      'after',
      '\nExamples:\n  culvert approve edge/shop\n  culvert approve edge/shop -n web --yes --wait\n' +
        '\nExit codes: 0 approved, with --wait also up to date; 1 not approved, or stalled; 2 not up to date within --timeout.',
    )
    .action((args: readonly string[], flags: ApproveFlags) =>
      askCluster(flags, (cluster) => runApprove(cluster, parseResource(args, cluster.scope), flags)),
    )
}

/** @returns the exit code of the process */
export async function runApprove(cluster: Cluster, resource: ResourceArgument, flags: ApproveFlags): Promise<number> {
  const { kube, out, err } = cluster
  const type = resourceTypeOf(resource.descriptor)
  const key: ObjectKey = resource
  const found = (await readNamed(cluster, resource)) as Planned
  const plan = planIn(found, resource)
  if (flags.plan !== undefined && flags.plan !== plan.hash) {
    const message = `${argumentText(resource)}: the plan has changed, it is now ${plan.hash}`
    throw new CommandError('Refused', message, `culvert approve ${argumentsFor(resource)}`)
  }
  for (const line of pendingPlanLines(plan, out)) out.print(line)
  const isCut = hiddenText(plan) !== undefined
  if (flags.yes) refuseHidden(plan, found, resource)
  const answer =
    flags.yes ||
    (await confirm(`Approve this plan${isCut ? ', which is not shown in full,' : ''} for ${argumentText(resource)}?`))
  if (answer === undefined) {
    const command = `culvert approve ${argumentsFor(resource)} --plan ${plan.hash} --yes`
    throw new CommandError(
      'BadArgument',
      'approve cannot ask for confirmation, since the input is not a terminal',
      command,
    )
  }
  if (!answer) {
    err.print('Nothing was approved.')
    return 1
  }
  const annotations = { [APPROVED_PLAN]: plan.hash }
  const object = await kube.mergePatch<Planned>(type, key, { metadata: { annotations } }, { uid: found.metadata.uid })
  out.print(`${argumentText(resource)}: approved`)
  const sent = { verb: 'approve', resource, object, summary: '' } as const
  return flags.wait ? await followRequest(cluster, sent, flags.timeout) : 0
}

/** @throws CommandError naming what shows the rest, if the status does not show the whole plan */
function refuseHidden(plan: PendingPlan, { spec }: Planned, resource: ResourceArgument): void {
  const hidden = hiddenText(plan)
  if (hidden === undefined) return
  const { kind = 'Account', name = 'default' } = spec?.accountRef ?? {}
  const place = namespaceFlag(resource.namespace)
  const read = `kubectl get ${fullPlural(resource.descriptor)} ${resource.name}${place} -o yaml`
  const command = `${read} | culvert plan -f - --context "$(kubectl config current-context)" --account ${kind}/${name}${place} -o json`
  const message = `${argumentText(resource)}: --yes approves only plans that are shown in full. ${hidden}. To see everything, run the command below; to approve, omit --yes`
  throw new CommandError('Refused', message, command)
}

/** @throws CommandError saying why there is none */
function planIn({ spec, status }: Planned, resource: ResourceArgument): PendingPlan {
  if (status?.plan !== undefined) return status.plan
  const command = `culvert why ${argumentsFor(resource)}`
  const why =
    spec?.managementPolicy === 'Plan'
      ? 'no plan waits for approval'
      : 'nothing waits for approval: its spec has no managementPolicy: Plan'
  throw new CommandError('Refused', `${argumentText(resource)}: ${why}`, command)
}

type Operation = PendingPlan['operations'][number]

/** A plan that waits for approval, line by line. */
export function pendingPlanLines(plan: PendingPlan, paper: Paper): readonly Line[] {
  const warning = hiddenText(plan)
  const warnings = warning === undefined ? [] : wrap(`! ${warning}`, paper.width, '  ').map(inRed)
  // Said twice: a long plan leaves only its end on the screen.
  return [...warnings, ...plan.operations.flatMap((operation) => operationLines(operation, paper)), ...warnings]
}

/** What of a plan its status has no room for; undefined if it shows everything. */
export function hiddenText({ operations, moreOperations = 0 }: PendingPlan): string | undefined {
  const fields = operations.reduce((sum, { moreChanges = 0 }) => sum + moreChanges, 0)
  // JSON, ids and paths end with something else.
  const texts = operations.flatMap(({ object, changes = [] }) => [object, ...changes.flatMap(Object.values)])
  const values = texts.filter((text) => typeof text === 'string' && text.endsWith('…')).length
  const parts = [
    ...(moreOperations === 0 ? [] : [counted(moreOperations, 'request')]),
    ...(fields === 0 ? [] : [counted(fields, 'field')]),
    ...(values === 0 ? [] : [`the end of ${counted(values, 'value')}`]),
  ]
  return parts.length === 0 ? undefined : `The plan is not shown in full. Not shown: ${parts.join(', ')}`
}

function inRed(text: string): Line {
  return { text, style: ['bold', 'red'] }
}

const ACTIONS = { Create: 'create', Update: 'update', Delete: 'delete' } as const satisfies Record<
  Operation['action'],
  Action
>

function operationLines(
  { step, action, object, changes = [], marks = [], moreChanges = 0 }: Operation,
  paper: Paper,
): readonly Line[] {
  return [
    ...headLines(step, ACTIONS[action], object, paper),
    ...changes.flatMap(({ secret: isSecret = false, ...change }) =>
      linesBelow(changeLine({ ...change, isSecret }), paper),
    ),
    ...(moreChanges === 0 ? [] : linesBelow(`and ${counted(moreChanges, 'more field')}`, paper)),
    ...marks.flatMap((mark) => linesBelow(`! ${mark}`, paper)).map(inRed),
  ]
}
