import { durationMs } from '../../util/time.ts'
import type { CredentialForm, TunnelSpec, TunnelStatus } from '../descriptor/tunnel.ts'
import { openRequest } from '../run/requests.ts'
import { type Changed, credentialName, type TunnelResource, tunnelStatus } from './tunnel-resource.ts'

export const FORMS: readonly CredentialForm[] = ['key', 'token']

/** What decides which key or token a Tunnel has. */
export interface KeyFacts {
  readonly tunnel: string
  readonly spec: TunnelSpec
  readonly status: TunnelStatus
  /** Value of the annotation that asks for a new one. */
  readonly requested: string | undefined
  /**
   * Whether the Secret with the key of the status exists. A lost token is replaced by the TunnelCredential.
   */
  readonly isThere: boolean
  /** What the Deployment mounts, for a Tunnel that lost its status. */
  readonly mounted: Readonly<Record<CredentialForm, number | undefined>>
  /** Wall time in milliseconds. */
  readonly now: number
}

type Current = NonNullable<TunnelStatus['key']>
type Former = NonNullable<TunnelStatus['formerKey']>

interface Planned {
  readonly current: Current | undefined
  readonly former: Former | undefined
}

type KeyStatus = Changed<Pick<TunnelStatus, 'key' | 'formerKey' | 'token' | 'formerToken' | 'lastHandledRotateAt'>>

/** The credential of a Tunnel's agents; undefined: the one in its spec. */
export function formOf({ agent, credentialRef }: TunnelSpec): CredentialForm | undefined {
  if (credentialRef !== undefined) return undefined
  return agent === undefined ? 'key' : 'token'
}

/**
 * Which key or token the agents of a Tunnel should have, and which is still to be retired. Pure. There are at most two
 * of a form at a time: a request made while the former one is not retired waits.
 */
export function planKey(facts: KeyFacts): KeyStatus {
  const { status, requested, spec } = facts
  const before = { key: stateOf(status, 'key'), token: stateOf(status, 'token') }
  const key = planForm(facts, 'key', before.key)
  const token = planForm(facts, 'token', before.token)
  const form = formOf(spec)
  const isNew = form === undefined || { key, token }[form].current?.revision !== before[form].current?.revision
  return {
    key: key.current,
    formerKey: key.former,
    token: token.current,
    formerToken: token.former,
    // The credential in the spec is not ours to replace.
    lastHandledRotateAt: isNew ? (requested ?? status.lastHandledRotateAt) : status.lastHandledRotateAt,
  }
}

/** What a Tunnel has of a form. */
export function stateOf(status: TunnelStatus, form: CredentialForm): Planned {
  return form === 'key'
    ? { current: status.key, former: status.formerKey }
    : { current: status.token, former: status.formerToken }
}

/** The members of the status for that. */
export function membersOf(form: CredentialForm, { current, former }: Planned): Changed<Partial<TunnelStatus>> {
  return form === 'key' ? { key: current, formerKey: former } : { token: current, formerToken: former }
}

function planForm(facts: KeyFacts, form: CredentialForm, before: Planned): Planned {
  const { tunnel, spec, mounted } = facts
  const { current, former } = before
  if (formOf(spec) !== form) {
    if (current === undefined || former !== undefined) return before
    return { current: undefined, former: { revision: current.revision } }
  }
  const numbered = (revision: number): Current => ({ revision, name: credentialName(form, tunnel, revision) })
  if (current === undefined) {
    return { current: numbered(former === undefined ? (mounted[form] ?? 1) : former.revision + 1), former }
  }
  if (former !== undefined || !isDue(facts, form, current)) return before
  return { current: numbered(current.revision + 1), former: { revision: current.revision } }
}

function isDue(facts: KeyFacts, form: CredentialForm, { issuedAt }: Current): boolean {
  const { spec, status, requested, isThere, now } = facts
  // A key that was never made is made; one that was made and is gone is replaced while agents still have it.
  if (issuedAt === undefined) return false
  const isRequested = requested !== undefined && requested !== status.lastHandledRotateAt
  const isLost = form === 'key' && !isThere
  return isRequested || isLost || (dueAt(spec, status) ?? Number.POSITIVE_INFINITY) <= now
}

/** Wall time in milliseconds from which the key or token must be replaced; undefined: only on request. */
export function dueAt(spec: TunnelSpec, status: TunnelStatus): number | undefined {
  const form = formOf(spec)
  const issuedAt = form === undefined ? undefined : stateOf(status, form).current?.issuedAt
  if (spec.keyRotation === undefined || issuedAt === undefined) return undefined
  return Date.parse(issuedAt) + durationMs(spec.keyRotation.interval)
}

/** When something of a Tunnel's keys and tokens is due by itself, as wall time in milliseconds. */
export function duesOf(cr: TunnelResource, now: number): readonly number[] {
  const status = tunnelStatus(cr)
  const formers = FORMS.flatMap((form) => stateOf(status, form).former ?? [])
  const retired = formers.flatMap(({ retireAt }) => (retireAt === undefined ? [] : [Date.parse(retireAt)]))
  const form = formOf(cr.spec)
  const isLeft = FORMS.some((each) => {
    const { current, former } = stateOf(status, each)
    return each !== form && current !== undefined && former === undefined
  })
  // It gives way as soon as the one before it is gone.
  if (isLeft) return [...retired, now]
  if (form !== undefined && stateOf(status, form).former !== undefined) return retired
  // A request made while there was a former one has waited until now.
  const nextAt = openRequest(cr, 'rotate') === undefined ? dueAt(cr.spec, status) : now
  return nextAt === undefined ? retired : [...retired, nextAt]
}

/** The number in the name of a Secret that Culvert made for that Tunnel. */
export function revisionOf(form: CredentialForm, tunnel: string, secret: string | undefined): number | undefined {
  const revision = Number(secret?.slice(credentialName(form, tunnel, 0).length - 1))
  const isOwn = Number.isSafeInteger(revision) && revision > 0 && secret === credentialName(form, tunnel, revision)
  return isOwn ? revision : undefined
}
