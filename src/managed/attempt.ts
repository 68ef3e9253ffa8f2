import type { RemoteObject } from '../api/types.ts'

/** The Account or ClusterAccount at which an attempt was made. The namespace of an Account is the CR's own. */
export interface AccountName {
  readonly kind: 'Account' | 'ClusterAccount'
  readonly name: string
}

/**
 * A create about to be sent, recorded in the CR's annotation `internal.culvert.dev/create-attempt` before the POST. It
 * is unresolved while its nonce differs from `status.internal.create.nonce`.
 */
export interface Attempt {
  /** UID of the CR that made the attempt. If it is another CR's, the annotation was copied and is ignored. */
  readonly uid: string
  /** Counts the POSTs with this nonce, from 1. At most one POST is sent for each number. */
  readonly number: number
  /** One for each logical create, the same across its attempts. */
  readonly nonce: string
  readonly account: AccountName
  /** Modules that the POSTs with this nonce set: by the time the object is found, the spec may no longer name them. */
  readonly modules?: readonly string[]
}

/** The answer to a POST that is not yet in the CR's status, in full, including what the API returns only once. */
export interface CreateAnswer {
  readonly nonce: string
  readonly number: number
  readonly object: RemoteObject
}

const PATTERN =
  /^(?<uid>[^/]{1,64})\/(?<number>[1-9][0-9]{0,8})\/(?<nonce>[0-9a-f]{8,64})\/(?<kind>Account|ClusterAccount)\.(?<name>[^/]{1,253})(?:\/(?<modules>[A-Za-z,]{1,253}))?$/

/** The annotation's text: `uid/number/nonce/Account.name`, followed by `/module,module` for an object with modules. */
export function formatAttempt({ uid, number, nonce, account, modules = [] }: Attempt): string {
  const made = modules.length === 0 ? '' : `/${modules.join(',')}`
  return `${uid}/${number}/${nonce}/${account.kind}.${account.name}${made}`
}

/** Parses the annotation; undefined if it is absent or not in the form that Culvert writes. */
export function parseAttempt(text: string | undefined): Attempt | undefined {
  const groups = text === undefined ? undefined : PATTERN.exec(text)?.groups
  if (groups === undefined) return undefined
  const { uid = '', number = '', nonce = '', kind, name = '', modules } = groups
  return {
    uid,
    number: Number(number),
    nonce,
    account: { kind: kind === 'Account' ? 'Account' : 'ClusterAccount', name },
    ...(modules === undefined ? {} : { modules: modules.split(',') }),
  }
}
