import { equalJSON } from '../../util/json.ts'
import { type AccountKey, type AccountResource, accountText } from '../account-resource.ts'
import { shownCondition } from '../descriptor/mirror.ts'
import type { ConditionText, KindCondition } from '../descriptor/readiness.ts'
import { reasons } from '../descriptor/reasons.ts'
import { isCommon } from '../run/conditions.ts'
import { MIRRORS_PER_NAMESPACE } from './mirror-settings.ts'

/** More objects are listed than shown. The excess is not given, since it would change with each list. */
export function tooMany(limit: number): KindCondition {
  return notShown(
    reasons.TooManySessions,
    `spec.mirrorSessions.maxSessions: more than ${limit} sessions are online, of which ${limit} are shown: raise it, up to 20000`,
  )
}

/** Other accounts have taken all places. */
export function crowdedOut(namespace: string): KindCondition {
  return notShown(
    reasons.TooManyMirrors,
    `spec.mirrorSessions: none are shown, since namespace ${namespace} has those of ${MIRRORS_PER_NAMESPACE} older accounts already: disable mirrorSessions in one of them`,
  )
}

function notShown(reason: KindCondition['reason'], message: string): KindCondition {
  return { type: shownCondition.type, status: 'False', reason, message }
}

/** The conditions that mirrors contribute to their accounts, by `Kind/namespace/name`. */
export class MirrorReports {
  readonly #conditions = new Map<string, readonly KindCondition[]>()

  /**
   * Undefined until this process has reconciled the mirror: until then the account's existing condition stays valid.
   */
  of(account: AccountKey): readonly KindCondition[] | undefined {
    return this.#conditions.get(accountText(account))
  }

  /**
   * @param resource the account; undefined when it is gone
   * @returns whether its conditions have to change
   */
  note(account: AccountKey, resource: AccountResource | undefined, conditions: readonly KindCondition[]): boolean {
    if (resource === undefined) this.#conditions.delete(accountText(account))
    else this.#conditions.set(accountText(account), conditions)
    const told = (resource?.status?.conditions ?? []).filter(({ type }) => !isCommon(type))
    return resource !== undefined && !equalJSON(told.map(plain), conditions.map(plain))
  }
}

function plain({ type, status, reason, message }: ConditionText): ConditionText {
  return { type, status, reason, message }
}
