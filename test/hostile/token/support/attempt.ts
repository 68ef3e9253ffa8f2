/** An object, or a possible object name. */
export interface Thing {
  /** Path of its collection. */
  readonly collection: string
  /** Its name, or a prefix of it. */
  readonly name: string
  readonly manifest: Fields
}

export type Fields = Readonly<Record<string, unknown>>

/** One request of an attacker. */
export interface Attempt {
  readonly verb: 'create' | 'apply' | 'merge' | 'strategic' | 'json' | 'replace' | 'delete' | 'deletecollection'
  readonly on: Thing
  /** Default: the manifest. */
  readonly body?: unknown
  readonly subresource?: string
}

/** Where an attempt takes place. */
export interface Scene {
  /** A namespace with resources of Culvert. */
  readonly tenant: string
  /** A namespace that an operator of some namespaces does not watch. */
  readonly elsewhere: string
  /** Another, in which its ServiceAccount was bound to `cluster-admin` by mistake. */
  readonly mistaken: string
  /** The operator's own namespace. */
  readonly home: string
  /** Name of the RoleBinding that the operator may hold. */
  readonly hold: string
  /**
   * UIDs of the tenant's resources by kind, each named after its kind in lower case, and of the Secret `credentials`.
   */
  readonly uids: Readonly<Record<string, string>>
}

/** The rights of a stolen token: those of an operator of all or of some namespaces, or all rights. */
export type TokenOf = 'cluster' | 'namespace' | 'cluster-admin'

/** A thief's attempt with the operator's token. */
export interface Case {
  readonly title: string
  /** Default: `cluster`. */
  readonly token?: TokenOf
  /**
   * What refuses it. Default: the policy. RBAC allows what the policy refuses, and an account with the same rights and
   * no policy succeeds.
   */
  readonly by?: 'policy' | 'rbac'
  /** Words of the refusal. */
  readonly says?: string
  /** Objects created beforehand. */
  readonly given?: (scene: Scene) => readonly Thing[]
  readonly attempt: (scene: Scene) => Attempt
}

export function thing(
  path: string,
  plural: string,
  name: string,
  namespace: string | undefined,
  fields: Fields,
): Thing {
  const { metadata, ...rest } = fields as { readonly metadata?: Fields }
  const place = namespace === undefined ? {} : { namespace }
  const [, , group = '', version = ''] = path.startsWith('/api/') ? ['', '', '', 'v1'] : path.split('/')
  return {
    collection: `${path}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`,
    name,
    manifest: {
      apiVersion: group === '' ? version : `${group}/${version}`,
      ...rest,
      metadata: { name, ...place, ...metadata },
    },
  }
}

/** A Secret of this type that names a ServiceAccount gets a token of it that never expires. */
export const SERVICE_ACCOUNT_TOKEN = 'kubernetes.io/service-account-token'

const CORE = '/api/v1'
const CULVERT = '/apis/culvert.dev/v1alpha1'
export const RBAC = '/apis/rbac.authorization.k8s.io/v1'

export function secret(namespace: string, name: string, fields: Fields = {}): Thing {
  return thing(CORE, 'secrets', name, namespace, { kind: 'Secret', ...fields })
}

export function configMap(namespace: string, name: string, fields: Fields = {}): Thing {
  return thing(CORE, 'configmaps', name, namespace, { kind: 'ConfigMap', ...fields })
}

export function dnsEndpoint(namespace: string, name: string, fields: Fields = {}): Thing {
  return thing('/apis/externaldns.k8s.io/v1alpha1', 'dnsendpoints', name, namespace, { kind: 'DNSEndpoint', ...fields })
}

export function resource(
  kind: string,
  plural: string,
  namespace: string | undefined,
  name = kind.toLowerCase(),
): Thing {
  return thing(CULVERT, plural, name, namespace, { kind })
}

export function lease(namespace: string, name: string): Thing {
  const spec = { holderIdentity: 'somebody', leaseDurationSeconds: 15 }
  return thing('/apis/coordination.k8s.io/v1', 'leases', name, namespace, { kind: 'Lease', spec })
}

export function roleBinding(namespace: string, name: string, fields: Fields = {}): Thing {
  return thing(RBAC, 'rolebindings', name, namespace, { kind: 'RoleBinding', ...fields })
}

/** Metadata that the operator sets on an output of the tenant's resource of a kind. */
export function mark({ uids }: Scene, kind: string): Fields {
  const name = kind.toLowerCase()
  const owner = { apiVersion: 'culvert.dev/v1alpha1', kind, name, uid: uids[kind], controller: true }
  return {
    labels: { 'app.kubernetes.io/managed-by': 'culvert' },
    annotations: { 'internal.culvert.dev/output-of': `${kind}/${name}` },
    ownerReferences: [owner],
  }
}

/** Only the annotation, which stays on outputs that a resource leaves behind. */
export function note(kind: string): Fields {
  return { annotations: { 'internal.culvert.dev/output-of': `${kind}/${kind.toLowerCase()}` } }
}
