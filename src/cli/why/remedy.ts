import type { ObjectKey } from '../../kube/types.ts'
import { type AccountResource, keyOfAccount } from '../../managed/account-resource.ts'
import { secretOf } from '../../managed/accounts/account-key.ts'
import { type CustomResource, hasFinalizer, LONG_WAIT_MS, type ResourceName } from '../../managed/cr.ts'
import type { Descriptor } from '../../managed/descriptor/descriptor.ts'
import { conditionReasons, type Explanation, type Reason, reasons } from '../../managed/descriptor/reasons.ts'
import {
  keepKeyCommand,
  kubectlName,
  releaseCommand,
  retainCommand,
  storeCommand,
  writeCommand,
} from '../../managed/kubectl.ts'
import { SERVICE_ACCOUNT, SERVICE_DOMAIN, SERVICE_IGNORE, SERVICE_IP_POLICIES } from '../../managed/names.ts'
import { answersRequest } from '../../managed/run/requests.ts'
import { serviceOwning, serviceType } from '../../managed/services/service.ts'
import { type Leader, operatorNamespaceOf } from '../cluster/operator-lease.ts'
import { argumentsFor, fullPlural, type ResourceArgument } from '../cluster/resource-argument.ts'
import { FOREIGN_FINALIZERS, type ResourceState, type StatedResource } from '../cluster/resource-state.ts'
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
  readonly descriptor: Descriptor
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
  'RemoteMissing',
  'RequestsRefused',
])

/** Reasons that end when a Secret or ConfigMap has another value. */
const IN_SOURCES: ReadonlySet<string> = new Set<Reason>([
  'SecretMissing',
  'ConfigMapMissing',
  'InvalidInput',
  'Unauthorized',
  'IdentityUnproven',
])

/** The remedy for the cause at the end of the way. @param now wall-clock time */
export function remedyOf(root: Link, leader: Leader | undefined, named: Named, now: number): Remedy {
  const { state, unreadable } = root
  if (unreadable !== undefined)
    return { text: 'Ask an administrator for permission to read it.', command: unreadable.command }
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
        return { text: 'Find out why the controllers that set them do not remove them.', command }
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
  const isOfService = IN_SPEC.has(state.reason) && root.resource !== undefined && serviceOwning(root.resource)
  return { text: isOfService ? `${text} ${OF_SERVICES}` : text, command: fixFor(root, state, leader, named) }
}

/** Whether a resource on the way is a Service, which is not Culvert's. */
export function isService({ kind }: Pick<ResourceName, 'kind'>): boolean {
  return kind === serviceType.kind
}

/** What decides about a Service. */
const OF_SERVICES = `Change the Service: its ports, or its annotations ${SERVICE_DOMAIN}, ${SERVICE_IP_POLICIES}, ${SERVICE_ACCOUNT} and ${SERVICE_IGNORE} (docs/traffic.md).`

/** The remedy where the Service itself is the cause. */
export function serviceRemedy({ name: { name, namespace }, state }: Link): Remedy {
  if (state?.phase === 'current') return { text: '', command: undefined }
  if (state?.phase === 'unseen') return { text: NOT_SERVED, command: `culvert doctor${namespaceFlag(namespace)}` }
  return { text: OF_SERVICES, command: editService({ name, namespace }) }
}

function editService({ name, namespace }: ObjectKey): string {
  return writeCommand('edit', `services/${name}${namespaceFlag(namespace)}`)
}

/** The command that fixes it or, where that is done elsewhere, has Culvert try again and shows the result. */
function fixFor({ resource }: Link, state: ResourceState, leader: Leader | undefined, named: Named): string {
  if (IN_SPEC.has(state.reason)) {
    // What Culvert made for a Service, it would revert.
    const service = resource && serviceOwning(resource)
    return service === undefined ? writeCommand('edit', named.kubectl) : editService(service)
  }
  if (state.reason === reasons.Observed) {
    return writeCommand('patch', named.kubectl, `--type=merge -p '{"spec":{"managementPolicy":"Manage"}}'`)
  }
  const sources = IN_SOURCES.has(state.reason) && resource !== undefined ? sourcesOf(named, resource, leader) : []
  // Several sources differ by their names, which the message contains.
  const source = sources.find(({ name }) => state.message.includes(name)) ?? sources[0]
  return source === undefined ? triedAgain(named) : storeCommand(source.source, source)
}

function triedAgain({ culvert, descriptor }: Named): string {
  const isAnswered = answersRequest(descriptor.definition, 'reconcile')
  return isAnswered ? `culvert reconcile ${culvert} --wait` : `culvert why ${culvert} --watch`
}

/** A value that a spec takes from a Secret or ConfigMap. */
interface Source {
  readonly source: 'Secret' | 'ConfigMap'
  readonly name: string
  readonly namespace: string
  readonly key: string
}

/** Where the values of a resource come from. The Secret of a ClusterAccount is in the operator's own namespace. */
function sourcesOf({ descriptor }: Named, resource: StatedResource, leader: Leader | undefined): readonly Source[] {
  const { namespace } = resource.metadata
  if (descriptor.role === 'account') {
    const account = resource as StatedResource & AccountResource
    const operatorNamespace = operatorNamespaceOf({ release: '' }, leader ?? { type: 'none' })
    const { dataKey: key, ...secret } = secretOf({ operatorNamespace }, keyOfAccount(account), account)
    return [{ source: 'Secret', ...secret, key }]
  }
  if (descriptor.role !== 'managed' || namespace === undefined) return []
  const inputs = descriptor.inputs?.of((resource as StatedResource & CustomResource).spec) ?? []
  return inputs.map(({ source, ref: { name, key } }) => ({ source, name, namespace, key }))
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
  'Run the command, and enter a key of the account: no Secret can be created in a namespace that is being deleted.'
const REFUSED_DELETION =
  'Do what the message says, or set `spec.deletionPolicy: Retain` to keep the object in the account.'
const STILL_NEW = 'Wait: the state of a new resource is reported after half a minute.'
const NOT_SERVED =
  'Check that it has `spec.type: LoadBalancer` and `spec.loadBalancerClass: culvert.dev/edge`, that the operator serves Services (`tunnels.services.enabled` in the chart), and that it watches this namespace.'
const NOT_WATCHED =
  'Check that the operator watches this namespace (`--watch-namespace`), that its selectors, if any, match the account, and that its log shows no errors.'

/** The remedy for the first of these conditions that needs one. */
export function sideRemedy(sides: readonly Side[], namedOf: (name: ResourceName) => Named): Remedy {
  const side = sides.find(({ condition }) => needsAction(condition.reason))
  if (side === undefined) return { text: '', command: undefined }
  const { condition, name } = side
  // It compares the labels of groups with what credentials permit.
  const compared = `culvert doctor${namespaceFlag(name.namespace)}`
  const command = condition.reason === reasons.NoTunnels ? compared : triedAgain(namedOf(name))
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
  if (descriptor === undefined) throw new Error(`${kind} is not a kind of Culvert`)
  const argument: ResourceArgument = { descriptor, name, namespace }
  const place = namespaceFlag(namespace)
  return {
    culvert: argumentsFor(argument),
    kubectl: kubectlName(descriptor.definition, { name, namespace }),
    collection: `${fullPlural(descriptor)}${place}`,
    descriptor,
  }
}
