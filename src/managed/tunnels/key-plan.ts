import { durationMs } from '../../util/duration.ts'
import type { TunnelSpec, TunnelStatus } from '../descriptor/tunnel.ts'
import { type Changed, keyName } from './tunnel.ts'

/** What decides which key a Tunnel has. */
export interface KeyFacts {
  readonly tunnel: string
  readonly spec: TunnelSpec
  readonly status: TunnelStatus
  /** Value of the annotation that asks for a new key. */
  readonly requested: string | undefined
  /** Whether the Secret with the key of the status is there. */
  readonly isThere: boolean
  /** The key that the Deployment mounts, for a Tunnel that lost its status. */
  readonly mounted: number | undefined
  /** Wall time in milliseconds. */
  readonly now: number
}

type KeyStatus = Changed<Pick<TunnelStatus, 'key' | 'formerKey' | 'lastHandledRotateAt'>>

/**
 * Which key the agents of a Tunnel should have, and which is still to be retired. Pure. There are at most two at a time:
 * a request made while the former key is not retired waits.
 */
export function planKey(facts: KeyFacts): KeyStatus {
  const { tunnel, spec, status, requested, mounted } = facts
  const { key, formerKey, lastHandledRotateAt } = status
  const kept = { key, formerKey, lastHandledRotateAt }
  if (spec.credentialRef !== undefined) {
    // Its key is not ours to replace.
    const answered = { ...kept, lastHandledRotateAt: requested ?? lastHandledRotateAt }
    if (key === undefined || formerKey !== undefined) return answered
    return { ...answered, key: undefined, formerKey: { revision: key.revision } }
  }
  const numbered = (revision: number): NonNullable<TunnelStatus['key']> => ({
    revision,
    name: keyName(tunnel, revision),
  })
  if (key === undefined) {
    const first = formerKey === undefined ? (mounted ?? 1) : formerKey.revision + 1
    return { key: numbered(first), formerKey, lastHandledRotateAt: requested ?? lastHandledRotateAt }
  }
  if (formerKey !== undefined || !isDue(facts, key)) return kept
  return {
    key: numbered(key.revision + 1),
    formerKey: { revision: key.revision },
    lastHandledRotateAt: requested ?? lastHandledRotateAt,
  }
}

function isDue(facts: KeyFacts, { issuedAt }: NonNullable<TunnelStatus['key']>): boolean {
  const { status, requested, isThere, now } = facts
  // A key that was never made is made; one that was made and is gone is replaced while agents still have it.
  if (issuedAt === undefined) return false
  const isRequested = requested !== undefined && requested !== status.lastHandledRotateAt
  return isRequested || !isThere || (dueAt(facts.spec, status) ?? Number.POSITIVE_INFINITY) <= now
}

/** Wall time in milliseconds from which the key must be replaced; undefined: only on request. */
export function dueAt({ keyRotation }: TunnelSpec, { key }: TunnelStatus): number | undefined {
  if (keyRotation === undefined || key?.issuedAt === undefined) return undefined
  return Date.parse(key.issuedAt) + durationMs(keyRotation.interval)
}
