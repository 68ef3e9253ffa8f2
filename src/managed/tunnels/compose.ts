import { secretType } from '../../kube/core-types.ts'
import { secondsTime } from '../../util/time.ts'
import type { Composition, Notice, Step } from '../composed/composition.ts'
import { isAsWanted, type WantedObject } from '../composed/wanted.ts'
import { type CustomResource, generationOf, type ResourceName, shortName, statusOf } from '../cr.ts'
import type { ComposedDescriptor, TunnelStatus } from '../descriptor/tunnel.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { TEMPLATE_DIGEST } from '../names.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import { requestOf } from '../run/requests.ts'
import { type Deployment, isRolledOut, mountedSecret, tokenVersion } from './deployment.ts'
import { FORMS, formOf, membersOf, planKey, revisionOf, stateOf } from './key-plan.ts'
import { marks, tunnelCredential, tunnelObjects } from './objects.ts'
import { type AgentFacts, type MountedKey, RETIRE_MS } from './pod.ts'
import { refusedPods } from './pod-problems.ts'
import { notReady, type Route } from './route.ts'
import type { Scale } from './scaling.ts'
import {
  type Changed,
  credentialName,
  deploymentType,
  PRIVATE_KEY,
  PUBLIC_KEY,
  TOKEN,
  type TunnelResource,
  tunnelStatus,
} from './tunnel-resource.ts'

/** What exists of a Tunnel, and where it leads. */
export interface Existing {
  readonly descriptor: ComposedDescriptor
  readonly route: Route
  readonly deployment: Deployment | undefined
  /** Whether the Secret with the key of the status exists. */
  readonly hasKey: boolean
  readonly kinds: Pick<KindsRegistry, 'resourceType'>
  /** What watches have reported. */
  readonly resources: { get(name: ResourceName): CustomResource | undefined }
  /** Wall time in milliseconds. */
  readonly now: number
}

/** What agents connect with, once it can be used. */
interface Usable {
  readonly mounted: MountedKey
  /** Changes whenever agents have to be replaced, in addition to the name of the Secret. */
  readonly version: string | undefined
}

/** The steps to the credential of a Tunnel, and the status after them. */
export interface CredentialPlan {
  readonly steps: readonly Step[]
  readonly status: Changed<TunnelStatus>
  /** What agents connect with, or why they cannot yet. */
  readonly credential: Usable | WaitError
}

/** What a Tunnel consists of, and how it gets there. */
export interface TunnelPlan extends Composition {
  /** The status once everything is done, besides what is counted then. */
  readonly status: Changed<TunnelStatus>
  /** Undefined: nothing was decided about the number of agents yet. */
  readonly scale?: Scale
}

/**
 * The key or token of a Tunnel, with its credential. Which one there should be is recorded before anything is made or
 * deleted. Pure.
 */
export function composeCredential(cr: TunnelResource, existing: Existing): CredentialPlan {
  const { descriptor, route, deployment, hasKey, now } = existing
  const { labels, accountRef } = route
  const { metadata, spec } = cr
  const tunnel = metadata.name
  const steps: Step[] = [...checkSteps(cr, existing)]
  let status: Changed<TunnelStatus> = tunnelStatus(cr)
  const record = (fields: Changed<Partial<TunnelStatus>>, events: readonly Notice[] = []): void => {
    status = { ...status, ...fields }
    steps.push({ do: 'record', status: fields, events })
  }
  const secret = mountedSecret(deployment)
  const mounted = { key: revisionOf('key', tunnel, secret), token: revisionOf('token', tunnel, secret) }
  const requested = requestOf(cr, 'rotate')
  const plan = planKey({ tunnel, spec, status: tunnelStatus(cr), requested, isThere: hasKey, mounted, now })
  record(plan, replacements(tunnelStatus(cr), plan))

  const form = formOf(spec)
  const own = form === undefined ? undefined : stateOf(status as TunnelStatus, form).current
  const kind = descriptor.credentials[form ?? 'key']
  const name = spec.credentialRef?.name ?? own?.name ?? ''
  const about = `${spec.credentialRef === undefined ? '' : 'spec.credentialRef: '}${shortName({ kind, name })}`
  const found = existing.resources.get({ kind, namespace: metadata.namespace, name })
  if (form === undefined || own === undefined) {
    const why = found === undefined ? 'does not exist: create it' : unreadinessOf(found)
    return { steps, status, credential: why === undefined ? expectedKey(cr, deployment) : notReady(`${about} ${why}`) }
  }
  const isNew = own.issuedAt === undefined
  const issued = membersOf(form, {
    current: { ...own, issuedAt: secondsTime(now) },
    former: stateOf(status as TunnelStatus, form).former,
  })
  if (isNew && form === 'key') {
    steps.push({ do: 'make', wanted: () => newKey(tunnel, own.name) })
    record(issued)
  }
  const facts = { tunnel, revision: own.revision, labels, accountRef, type: existing.kinds.resourceType(kind) }
  const wanted = tunnelCredential(form, facts)
  steps.push({ do: 'keep', wanted })
  if (isNew && form === 'token') record(issued)
  if (found === undefined) return { steps, status, credential: notReady(`${about} does not exist yet`) }
  // An edit of it comes first.
  const why = isAsWanted(found, wanted) ? unreadinessOf(found) : RECONCILED
  if (why !== undefined) return { steps, status, credential: notReady(`${about} ${why}`) }
  const isToken = form === 'token'
  // A token that was lost or altered is replaced under the same name, with another object.
  const version = isToken ? statusOf(found).id : undefined
  return { steps, status, credential: { mounted: { secret: name, key: isToken ? TOKEN : PRIVATE_KEY }, version } }
}

/**
 * The agents of a Tunnel, and what becomes of former keys and tokens. Pure.
 *
 * @param decideScale what becomes of the number of agents, once they can be written
 */
export function composeAgents(
  cr: TunnelResource,
  existing: Existing,
  { steps, status, credential }: CredentialPlan,
  decideScale: () => Scale,
): TunnelPlan {
  if (credential instanceof WaitError) {
    return { courses: [{ steps, unfinished: credential }], surplus: [], status }
  }
  const { mounted, version } = credential
  const scale = decideScale()
  const { name, namespace = '' } = cr.metadata
  const { labels } = existing.route
  const facts = { name, namespace, labels, key: mounted, agent: agentOf(cr, existing.route, version) }
  const written = tunnelStatus(cr).internal?.template
  const objects = tunnelObjects(cr.spec, facts, scale.leftMs !== undefined).map((wanted): Step => {
    return { do: 'keep', wanted, written }
  })
  const retired = retire(cr, existing, status, mounted)
  const courses = [{ steps: [...steps, ...objects, ...retired.steps] }]
  return { courses, surplus: [], status: retired.status, scale }
}

/** Has the API server check Pods that are new, before anything is created or changed for them. */
function checkSteps(cr: TunnelResource, { route, deployment }: Existing): readonly Step[] {
  const { spec, metadata } = cr
  if (spec.template === undefined && spec.agent === undefined) return []
  const { name, namespace = '' } = metadata
  const { mounted: key, version } = expectedKey(cr, deployment)
  const agent = agentOf(cr, route, version)
  return tunnelObjects(spec, { name, namespace, labels: route.labels, key, agent })
    .filter(({ type }) => type.kind === deploymentType.kind)
    .filter(({ annotations }) => {
      return annotations[TEMPLATE_DIGEST] !== deployment?.metadata.annotations?.[TEMPLATE_DIGEST]
    })
    .map((wanted) => ({ do: 'check', wanted, explain: refusedPods(spec) }))
}

/** What agents mount now, or will mount first: enough to have their Pods checked before anything exists. */
function expectedKey({ spec, metadata, status = {} }: TunnelResource, deployment: Deployment | undefined): Usable {
  const form = formOf(spec)
  if (form === undefined) {
    const { name: secret = '', key = '' } = spec.credentialRef?.privateKeySecretRef ?? {}
    return { mounted: { secret, key }, version: undefined }
  }
  const [key, mounted] = [form === 'token' ? TOKEN : PRIVATE_KEY, mountedSecret(deployment)]
  const isOwn = revisionOf(form, metadata.name, mounted) !== undefined
  const planned = stateOf(status, form).current?.name ?? credentialName(form, metadata.name, 1)
  return { mounted: { secret: isOwn && mounted ? mounted : planned, key }, version: tokenVersion(deployment) }
}

/** Which agent runs, as the spec says. */
function agentOf({ spec: { agent } }: TunnelResource, { ssh }: Route, version: string | undefined): AgentFacts {
  if (agent !== undefined) return { type: 'foreign', spec: agent, version }
  if (ssh === undefined) throw new Error('a route without a gateway belongs to another agent')
  return { type: 'own', ...ssh }
}

function replacements(before: TunnelStatus, plan: Changed<TunnelStatus>): readonly Notice[] {
  return FORMS.flatMap((form) => {
    const { former } = stateOf(plan as TunnelStatus, form)
    if (former === undefined || former.revision === stateOf(before, form).former?.revision) return []
    const message = `${form} ${former.revision} is being replaced: agents switch to the new one first`
    return [{ type: 'Normal', reason: 'Rotating', message } as const]
  })
}

/** A Secret with a new key. */
async function newKey(tunnel: string, name: string): Promise<WantedObject> {
  // Loaded for the first key only: the library is large.
  const { newKeyPair } = await import('../../ssh/new-key.ts')
  const { privateKey, publicKey } = newKeyPair()
  const data = { [PRIVATE_KEY]: base64(privateKey), [PUBLIC_KEY]: base64(`${publicKey}\n`) }
  return { type: secretType, name, ...marks(tunnel), content: { type: 'Opaque', data } }
}

const RECONCILED = 'is being reconciled'

/**
 * Why agents cannot use a credential; undefined if they can. They start only with one that permits what they bind:
 * otherwise the service would refuse them.
 */
function unreadinessOf(credential: CustomResource): string | undefined {
  for (const type of ['Ready', 'Synced']) {
    const condition = statusOf(credential).conditions?.find((each) => each.type === type)
    if (condition?.observedGeneration !== generationOf(credential)) return RECONCILED
    if (condition.status !== 'True') return `is not ${type}: ${condition.message}`
  }
  return undefined
}

/** Deletes former keys and tokens with their credentials, a while after the last agent with them was replaced. */
function retire(
  { metadata: { name: tunnel } }: TunnelResource,
  { deployment, descriptor, kinds, now }: Existing,
  before: Changed<TunnelStatus>,
  { secret }: MountedKey,
): { readonly steps: readonly Step[]; readonly status: Changed<TunnelStatus> } {
  const isUnused = deployment !== undefined && mountedSecret(deployment) === secret && isRolledOut(deployment)
  const steps: Step[] = []
  let status = before
  for (const form of FORMS) {
    const { current, former } = stateOf(before as TunnelStatus, form)
    if (former === undefined) continue
    const { revision, retireAt = secondsTime(now + RETIRE_MS) } = former
    const isDue = isUnused && Date.parse(retireAt) <= now
    if (isDue) {
      const name = credentialName(form, tunnel, revision)
      steps.push({ do: 'remove', type: kinds.resourceType(descriptor.credentials[form]), name })
      // The Secret with a token belongs to its credential.
      if (form === 'key') steps.push({ do: 'remove', type: secretType, name })
    }
    const left = isUnused ? { revision, retireAt } : { revision }
    status = { ...status, ...membersOf(form, { current, former: isDue ? undefined : left }) }
  }
  return { steps, status }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
