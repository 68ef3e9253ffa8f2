import { allowsAddress } from '../../api/base-url.ts'
import { accountKey } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import { type CustomResource, generationOf, shortName, statusOf } from '../cr.ts'
import type { AccountSpec } from '../descriptor/account.ts'
import { reasons } from '../descriptor/reasons.ts'
import { type ComposedDescriptor, LONGEST_TUNNEL_NAME, TUNNEL_NAME_PROBLEM } from '../descriptor/tunnel.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { TunnelContext } from './context.ts'
import { bindText } from './pod.ts'
import { refuseUnpermitted, type TunnelPolicy } from './policy.ts'
import type { TunnelResource } from './tunnel-resource.ts'

/** What is waited for wakes the Tunnel; this is only the fallback. */
const WAIT_MS = 60_000

/** Where the tunnel leads. */
export interface Route {
  readonly labels: Readonly<Record<string, string>>
  readonly accountRef: AccountName
  /** Where Culvert's agents connect to. */
  readonly ssh: { readonly gateway: NonNullable<AccountSpec['sshGateway']>; readonly image: string } | undefined
}

type RouteContext = Pick<TunnelContext, 'resources' | 'policy'>

/** Where the tunnel leads. @throws WaitError or TerminalError while that is not known, or not permitted. */
export function routeOf(context: RouteContext, descriptor: ComposedDescriptor, cr: TunnelResource): Route {
  const { policy } = context
  if (policy === undefined) {
    const message = 'the operator runs no agents: have its administrator set tunnels.enabled of the chart'
    throw new TerminalError(reasons.TunnelsDisabled, message)
  }
  const { namespace = '', name } = cr.metadata
  if (name.length > LONGEST_TUNNEL_NAME || name.includes('.')) {
    throw new TerminalError(reasons.InvalidSpec, TUNNEL_NAME_PROBLEM)
  }
  refuseUnpermitted(cr.spec, policy)
  const target = { kind: descriptor.backend, namespace, name: cr.spec.backendRef.name }
  const about = `spec.backendRef: ${shortName(target)}`
  const backend = context.resources.get(target)
  if (backend === undefined) throw notReady(`${about} does not exist: create it or correct the name`)
  const labels = descriptor.labelsOf(backend.spec)
  if (labels === undefined) {
    throw new TerminalError(reasons.InvalidSpec, `${about} is not of type TunnelGroup: name one that is`)
  }
  const bind = bindText(labels)
  if ('problem' in bind) throw new TerminalError(reasons.InvalidSpec, `${about} ${bind.problem}`)
  const accountRef = accountOf(context, descriptor, cr)
  if (accountRef === undefined) throw notReady(`${about} is in no account yet: check its conditions`)
  // Another agent finds the service by itself.
  const ssh = cr.spec.agent === undefined ? gatewayOf(context, policy, accountRef, namespace) : undefined
  return { labels, accountRef, ssh }
}

function gatewayOf(
  { resources }: RouteContext,
  policy: TunnelPolicy,
  accountRef: AccountName,
  namespace: string,
): Route['ssh'] {
  const gateway = resources.account(accountKey(accountRef, namespace))?.spec.sshGateway
  if (gateway === undefined) {
    throw notReady(`${shortName(accountRef)} does not say where the SSH gateway is: set its spec.sshGateway`)
  }
  if (!allowsAddress(gateway.address, policy.gateways)) {
    const { address } = gateway
    const message = `${shortName(accountRef)}: spec.sshGateway: "${address}" is not allowed: let the administrator add it to tunnels.gateways of the chart`
    throw new TerminalError(reasons.GatewayNotAllowed, message)
  }
  return { gateway, image: policy.image }
}

/** The account of the Backend. */
export function accountOf(
  { resources }: RouteContext,
  descriptor: ComposedDescriptor,
  { metadata: { namespace }, spec }: TunnelResource,
): AccountName | undefined {
  const backend = resources.get({ kind: descriptor.backend, namespace, name: spec.backendRef.name })
  const { accountRef } = backend === undefined ? {} : statusOf(backend)
  return accountRef === undefined ? undefined : { kind: accountRef.kind, name: accountRef.name }
}

export function notReady(message: string): WaitError {
  return new WaitError(reasons.ReferenceNotReady, message, WAIT_MS)
}

/** Agents start only with a credential that permits what they bind: otherwise the service would refuse them. */
export function refuseUnready(credential: CustomResource, about: string): void {
  for (const type of ['Ready', 'Synced']) {
    const condition = statusOf(credential).conditions?.find((each) => each.type === type)
    const isCurrent = condition?.observedGeneration === generationOf(credential)
    if (condition?.status === 'True' && isCurrent) continue
    const why = condition === undefined || !isCurrent ? 'is being reconciled' : `is not ${type}: ${condition.message}`
    throw notReady(`${about} ${why}`)
  }
}
