import { hasFinalizer, LONG_WAIT_MS, type ResourceName } from '../../managed/cr.ts'
import { conditionReasons, type Explanation, type Reason, reasons } from '../../managed/descriptor/reasons.ts'
import { keepKeyCommand, kubectlName, releaseCommand, retainCommand, writeCommand } from '../../managed/kubectl.ts'
import type { Leader } from '../cluster/operator-lease.ts'
import { argumentsFor, fullPlural, type ResourceArgument } from '../cluster/resource-argument.ts'
import { FOREIGN_FINALIZERS } from '../cluster/resource-state.ts'
import type { Snapshot } from '../cluster/snapshot.ts'
import { namespaceFlag } from '../flags.ts'
import type { Link, Side } from './causes.ts'

/** What a person can do about a cause. */
export interface Remedy {
  /** From the explanation of the reason (`descriptor/reasons.ts`), without links. Empty: nothing needs to be done. */
  readonly text: string
  /** One command to go on with. */
  readonly command: string | undefined
}

/** A resource, as the arguments of commands name it. */
export interface Named {
  /** `edge/shop -n web` */
  readonly culvert: string
  /** `edges.culvert.dev/shop -n web` */
  readonly kubectl: string
  /** `edges.culvert.dev -n web` */
  readonly collection: string
}

/** Reasons that end when the spec of the resource changes. */
const IN_SPEC: ReadonlySet<string> = new Set<Reason>([
  'InvalidSpec',
  'Rejected',
  'Conflict',
  'ReferenceCycle',
  'ReferenceRefused',
  'ReferenceNotPermitted',
  'GrantWithdrawn',
  'DomainNotAllowed',
  'LabelNotAllowed',
  'AlreadyExists',
  'NotAdoptable',
  'Expired',
  'OutputNotOwned',
  'BaseURLNotAllowed',
])

/** The remedy for the cause at the end of the way. @param now wall-clock time */
export function remedyOf(root: Link, leader: Leader | undefined, named: Named, now: number): Remedy {
  const { state, unreadable } = root
  if (unreadable !== undefined)
    return { text: 'Ask an administrator for the right to read it.', command: unreadable.command }
  if (state === undefined) {
    return { text: textFor('ReferenceNotReady'), command: `kubectl get ${named.collection}` }
  }
  if (state.reason === reasons.AwaitingApproval) {
    return { text: textFor(state.reason), command: `culvert approve ${named.culvert}` }
  }
  const silent = leader === undefined || leader.type === 'leading' ? undefined : withoutLeader(leader)
  switch (state.phase) {
    case 'paused':
      return { text: textFor('Paused'), command: `culvert resume ${named.culvert}` }
    case 'unseen':
      if (silent !== undefined) return silent
      return leader?.type === 'leading' && isNew(root, now)
        ? { text: STILL_NEW, command: `culvert why ${named.culvert}` }
        : { text: NOT_WATCHED, command: 'culvert doctor' }
    case 'deleting':
      if (state.reason === FOREIGN_FINALIZERS) {
        const command = `kubectl get ${named.kubectl} -o jsonpath='{.metadata.finalizers}'`
        return { text: 'Find out why whoever set them does not remove them.', command }
      }
      if (state.reason === reasons.Rejected) {
        return { text: REFUSED_DELETION, command: writeCommand('edit', named.kubectl) }
      }
      if (state.reason !== reasons.Deleting) break
      return offered(root, named) ?? { text: textFor('Deleting'), command: `culvert tree ${named.culvert} --reverse` }
    case 'inProgress':
      if (silent !== undefined) return silent
      break
    case 'stalled':
    case 'current':
      break
  }
  const text = textFor(state.reason)
  if (text === '') return { text, command: undefined }
  const isInSpec = IN_SPEC.has(state.reason)
  return { text, command: isInSpec ? writeCommand('edit', named.kubectl) : `kubectl describe ${named.kubectl}` }
}

/**
 * The command that ends a wait of a deletion, if the operator has offered it. It is never taken from the message as it
 * is: that may quote others.
 */
function offered({ resource, state }: Link, { kubectl }: Named): Remedy | undefined {
  if (resource === undefined || state === undefined) return undefined
  const { finalizers = [], uid } = resource.metadata
  const restoring = [retainCommand(kubectl), releaseCommand(kubectl, finalizers)]
  const restored = restoring.find((command) => state.message.endsWith(command))
  if (restored !== undefined) return { text: textFor('Deleting'), command: restored }
  // Only the operator knows its namespace for certain.
  const [, namespace = ''] = / -n ([a-z0-9-]+) \S+$/.exec(state.message) ?? []
  const command = keepKeyCommand(uid, namespace)
  return state.message.endsWith(command) ? { text: NO_KEY, command } : undefined
}

const NO_KEY =
  'Run the command, and enter a key of the account: a namespace that is being deleted takes no Secret any more.'
const REFUSED_DELETION =
  'Do what the message says, or set `spec.deletionPolicy: Retain` to leave the object in the account.'
const STILL_NEW = 'Wait: what a new resource waits for is reported after half a minute.'
const NOT_WATCHED =
  'Check that the operator watches this namespace (`--watch-namespace`), that its selectors, if it has any, name the account, and that its log shows no errors.'

/** The remedy for the first of these conditions that needs one. */
export function sideRemedy(sides: readonly Side[], namedOf: (name: ResourceName) => Named): Remedy {
  const side = sides.find(({ condition }) => needsAction(condition.reason))
  if (side === undefined) return { text: '', command: undefined }
  const { condition, name } = side
  // It compares the labels of groups with what credentials permit.
  const compared = `culvert doctor${namespaceFlag(name.namespace)}`
  const command = condition.reason === reasons.NoTunnels ? compared : `kubectl describe ${namedOf(name).kubectl}`
  return { text: textFor(condition.reason), command }
}

/** Whether a reason is about something that a person has to do. */
export function needsAction(reason: string): boolean {
  const text = textFor(reason)
  return text !== '' && !text.startsWith('Nothing')
}

/** Whether nothing can be expected of an operator yet. One that has worked on it has set its finalizer. */
function isNew({ resource, state }: Link, now: number): boolean {
  const isUntouched = resource !== undefined && !hasFinalizer(resource)
  return isUntouched && state?.since !== undefined && now - Date.parse(state.since) <= LONG_WAIT_MS
}

/** While no operator leads, nothing else helps. */
function withoutLeader(leader: Exclude<Leader, { readonly type: 'leading' }>): Remedy | undefined {
  if (leader.type !== 'silent') return undefined
  return {
    text: 'Start the operator, or find out from its Pods why it does not run.',
    command: `kubectl get pods -n ${leader.namespace}`,
  }
}

function textFor(reason: string): string {
  const explanation: Explanation | undefined = Object.hasOwn(conditionReasons, reason)
    ? conditionReasons[reason as Reason]
    : undefined
  const remedy = explanation?.remedy ?? ''
  // A link leads to a page of the documentation, by a path that means nothing here.
  return remedy === 'Nothing.'
    ? ''
    : remedy.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, 'docs/$1').replaceAll('docs/docs/', 'docs/')
}

/** The arguments by which commands name a resource. */
export function namedFor(snapshot: Snapshot, { kind, name, namespace }: ResourceName): Named {
  const descriptor = snapshot.descriptorOf(kind)
  if (descriptor === undefined) throw new Error(`${kind} is not a kind of Culvert's`)
  const argument: ResourceArgument = { descriptor, name, namespace }
  const place = namespaceFlag(namespace)
  return {
    culvert: argumentsFor(argument),
    kubectl: kubectlName(descriptor.definition, { name, namespace }),
    collection: `${fullPlural(descriptor)}${place}`,
  }
}
