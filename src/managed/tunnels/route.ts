import { allowsAddress } from '../../api/base-url.ts'
import { accountKey } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import { shortName, statusOf } from '../cr.ts'
import type { AccountSpec } from '../descriptor/account.ts'
import { reasons } from '../descriptor/reasons.ts'
import { type ComposedDescriptor, LONGEST_TUNNEL_NAME, TUNNEL_NAME_PROBLEM } from '../descriptor/tunnel.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { TunnelContext } from './composed-tunnel.ts'
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
    const message = 'tunnels are not enabled in the operator: have its administrator set tunnels.enabled in the chart'
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
    throw new TerminalError(reasons.InvalidSpec, `${about} is not of type TunnelGroup: refer to a TunnelGroup`)
  }
  const bind = bindText(labels)
  if ('problem' in bind) throw new TerminalError(reasons.InvalidSpec, `${about} ${bind.problem}`)
  const accountRef = accountOf(context, descriptor, cr)
  if (accountRef === undefined) throw notReady(`${about} has no account yet: check its conditions`)
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
    throw notReady(`${shortName(accountRef)} has no SSH gateway: set its spec.sshGateway`)
  }
  if (!allowsAddress(gateway.address, policy.gateways)) {
    const { address } = gateway
    const message = `${shortName(accountRef)}: spec.sshGateway: "${address}" is not allowed: have the administrator add it to tunnels.gateways in the chart`
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
