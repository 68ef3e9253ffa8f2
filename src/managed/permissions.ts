import type { ResourceType } from '../kube/types.ts'

/** One permission, and why it is needed. */
export interface Permission {
  readonly type: Pick<ResourceType, 'group' | 'plural'>
  readonly subresource?: string
  readonly verbs: readonly Verb[]
  /** Only these objects. Absent: all. */
  readonly names?: readonly string[]
  /** For people: what it is needed for. */
  readonly why: string
}

/** RBAC verbs, in the order of rules. `approve` is Culvert's own: who may let the plan of a resource run. */
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'approve'] as const

/** An RBAC verb. */
export type Verb = (typeof VERBS)[number]

/** A rule of a Role or ClusterRole (rbac.authorization.k8s.io/v1). */
export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly Verb[]
}

/** The fewest rules that grant exactly these permissions. */
export function rulesOf(permissions: readonly Permission[]): readonly Rule[] {
  const rules = new Map<string, { readonly rule: Omit<Rule, 'resources'>; readonly resources: string[] }>()
  for (const permission of joined(permissions)) {
    const { type, verbs, names } = permission
    const rule = { apiGroups: [type.group], ...(names === undefined ? {} : { resourceNames: names }), verbs }
    const entry = rules.get(JSON.stringify(rule)) ?? { rule, resources: [] }
    entry.resources.push(resourceOf(permission))
    rules.set(JSON.stringify(rule), entry)
  }
  return [...rules.values()].map(({ rule: { apiGroups, ...rest }, resources }) => ({
    apiGroups,
    resources: [...resources].sort(),
    ...rest,
  }))
}

/** `edges`, or `edges/status`: the name in a rule. */
export function resourceOf({ type, subresource }: Pick<Permission, 'type' | 'subresource'>): string {
  return subresource === undefined ? type.plural : `${type.plural}/${subresource}`
}

/** Merges permissions for the same objects, so that each verb is granted once. */
function joined(permissions: readonly Permission[]): readonly Permission[] {
  const byObjects = new Map<string, Permission>()
  for (const permission of permissions) {
    const key = JSON.stringify([permission.type.group, resourceOf(permission), permission.names])
    const verbs = new Set([...(byObjects.get(key)?.verbs ?? []), ...permission.verbs])
    byObjects.set(key, { ...permission, verbs: VERBS.filter((verb) => verbs.has(verb)) })
  }
  return [...byObjects.values()]
}
