import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Rule } from '../../../src/managed/permissions.ts'
import { pathsOf, type SentFields } from './described-writes.ts'
import { OPERATOR_ACCOUNT } from './operator-account.ts'

/** Suffix of the names of all audit logs that are checked together. */
export const AUDIT_LOG = 'audit.log'

/** A request of an operator, as far as its permission is concerned. */
export interface Use {
  /** Whether in the operator's own namespace. */
  readonly own: boolean
  readonly group: string
  /** `edges`, or `edges/status`. */
  readonly resource: string
  readonly verb: string
  /** Namespace and name of the object, for people. */
  readonly object: string
  readonly allowed: boolean
  /** Reason of a refusal by an admission policy. */
  readonly denied?: string
  /** Body of a write, unless it is of a Secret. */
  readonly body?: unknown
}

/** The operator's rights in its own namespace and in what it watches. */
export interface Granted {
  readonly own: readonly Rule[]
  readonly watched: readonly Rule[]
}

export interface Judgement {
  /** Requests refused for lack of a permission, or by an admission policy, each sort once. */
  readonly refused: readonly string[]
  /** Permissions that no request ever used. */
  readonly unused: readonly string[]
}

/** Compares the operators' requests with their rights. */
export function judge(uses: Iterable<Use>, granted: Granted): Judgement {
  const refused = new Map<string, string>()
  const used = new Set<string>()
  for (const use of uses) {
    if (use.allowed) used.add(textOf(use))
    const text = use.denied === undefined ? textOf(use) : `${textOf(use)}, for ${use.denied}`
    if ((!use.allowed || use.denied !== undefined) && !refused.has(text)) refused.set(text, use.object)
  }
  const wanted = [...permissionsIn(granted.own, true), ...permissionsIn(granted.watched, false)]
  return {
    refused: [...refused].map(([text, object]) => `${text} (first ${object})`),
    unused: [...new Set(wanted.filter((text) => !used.has(text)))],
  }
}

function permissionsIn(rules: readonly Rule[], own: boolean): readonly string[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => textOf({ own, group, resource, verb }))),
    ),
  )
}

function textOf({ own, group, resource, verb }: Pick<Use, 'own' | 'group' | 'resource' | 'verb'>): string {
  return `${verb} ${group === '' ? resource : `${resource} of ${group}`}${own ? " in the operator's own namespace" : ''}`
}

/** The distinct uses in a folder's audit logs, and the fields that were written. */
export async function usesIn(folder: string): Promise<{ readonly uses: readonly Use[]; readonly sent: SentFields }> {
  const found = new Map<string, Use>()
  const sent = new Map<string, Set<string>>()
  for (const name of await readdir(folder)) {
    if (!name.endsWith(AUDIT_LOG)) continue
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
      if (!line.includes(USER)) continue
      for (const use of usesOf(line)) {
        const key = `${textOf(use)} ${use.allowed} ${use.denied}`
        if (!found.has(key)) found.set(key, use)
        const resource = use.group === '' ? use.resource : `${use.group}/${use.resource}`
        for (const path of use.body === undefined ? [] : pathsOf(use.body)) {
          const paths = sent.get(resource) ?? new Set()
          sent.set(resource, paths.add(path))
        }
      }
    }
  }
  return { uses: [...found.values()], sent }
}

const USER = 'system:serviceaccount:'

/** The annotation for requests denied by a binding with the action `Audit`. */
const DENIED = 'validation.policy.admission.k8s.io/validation_failure'

interface Line {
  readonly stage: string
  readonly verb: string
  readonly user: { readonly username: string }
  readonly userAgent?: string
  readonly objectRef?: Readonly<
    Record<'apiGroup' | 'resource' | 'subresource' | 'namespace' | 'name', string | undefined>
  >
  readonly responseStatus?: { readonly code?: number }
  readonly annotations?: Readonly<Record<string, string | undefined>>
  readonly requestObject?: unknown
}

/**
 * The authorizer's decision is in a later entry than the arrival of a request. The last line of a log may be truncated.
 */
function usesOf(text: string): readonly Use[] {
  if (!text.endsWith('}')) return []
  const {
    stage,
    verb,
    user,
    userAgent,
    objectRef,
    responseStatus,
    annotations = {},
    requestObject,
  } = JSON.parse(text) as Line
  const decision = annotations['authorization.k8s.io/decision']
  const [, , home, account] = user.username.split(':')
  const isOperator = user.username.startsWith(USER) && account === OPERATOR_ACCOUNT && userAgent === 'culvert'
  if (stage === 'RequestReceived' || !isOperator || decision === undefined) return []
  const { apiGroup: group = '', resource: plural = '', subresource, namespace, name = '' } = objectRef ?? {}
  const use: Use = {
    own: namespace !== undefined && namespace === home,
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    verb,
    object: namespace === undefined ? name : `${namespace}/${name}`,
    allowed: decision === 'allow',
    ...(annotations[DENIED] === undefined ? {} : { denied: annotations[DENIED] }),
    ...(requestObject === undefined ? {} : { body: requestObject }),
  }
  // An apply that created its object needed the right to create, too.
  return verb === 'patch' && responseStatus?.code === 201 ? [use, { ...use, verb: 'create' }] : [use]
}
