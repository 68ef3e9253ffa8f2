import type { Fields } from './attempt.ts'

/**
 * Every field of an OpenAPI schema of the API server, and values for it. It knows Kubernetes' schemas and nothing of
 * what the operator writes.
 */

/** A schema as the API server publishes it (`/openapi/v3`). */
export interface Schema {
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly minimum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
}

/** All schemas of a version of a group, by name. */
export type Schemas = Readonly<Record<string, Schema>>

/** A change of one field. */
export interface Change {
  /** The path, with `*` for any item and any key. */
  readonly path: readonly string[]
  /** What is changed: the field, or the key of a map that it is. */
  readonly what: 'missing' | 'null' | 'empty' | 'other'
  readonly object: Fields
  /** The field as the only one of its parent, since Kubernetes takes only one member of a union. */
  readonly alone?: Fields
}

const REFS = /^#\/components\/schemas\//
/** Deeper, only recursive schemas go on. */
const DEEPEST = 14

/** Changes of one object, one field at a time. Each list is tried with a changed and with a further item. */
export function* changesOf(base: Fields, schema: Schema, schemas: Schemas): Generator<Change> {
  for (const { path, at, schema: field } of fieldsOf(base, schema, schemas)) {
    const before = valueAt(base, at)
    const fill = (length: number): Fields => requiredOf(path.slice(0, length), schema, schemas)
    const samples = samplesOf(path, field, schemas).filter((sample) => !isSame(sample, before))
    if (before !== undefined) yield { path, what: 'missing', object: changed(base, at, undefined) }
    if (before !== undefined) yield { path, what: 'null', object: changed(base, at, null, fill) }
    // With its parents, something else would be added.
    const empty = valueAt(base, at.slice(0, -1)) === undefined ? undefined : emptyOf(field, schemas)
    if (empty !== undefined && !isSame(empty, before))
      yield { path, what: 'empty', object: changed(base, at, empty, fill) }
    const parent = at.slice(0, -1)
    const around = valueAt(base, parent)
    const isUnion = parent.length > 1 && isRecord(around) && Object.keys(around).length > 1
    for (const sample of samples) {
      const lone = { ...fill(path.length - 1), [at.at(-1) ?? '']: sample }
      yield {
        path,
        what: 'other',
        object: changed(base, at, sample, fill),
        ...(isUnion ? { alone: changed(base, parent, lone) } : {}),
      }
    }
  }
}

interface Found {
  readonly path: readonly string[]
  /** The path in the object: with indexes and keys. */
  readonly at: readonly string[]
  readonly schema: Schema
}

function* fieldsOf(base: Fields, root: Schema, schemas: Schemas): Generator<Found> {
  const pending: Found[] = [{ path: [], at: [], schema: root }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, at } = next
    const schema = resolved(next.schema, schemas)
    if (path.length > 0) yield { path, at, schema }
    // Kubernetes takes none of them in a template.
    if (path.length > DEEPEST || path.at(-1) === 'ephemeralContainers') continue
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      // A schema that contains itself is entered once.
      if (path.filter((each) => each === name).length > 1) continue
      pending.push({ path: [...path, name], at: [...at, name], schema: property })
    }
    const there = valueAt(base, at)
    if (schema.items !== undefined) {
      const size = Array.isArray(there) ? there.length : 0
      if (size > 0) pending.push({ path: [...path, '*'], at: [...at, '0'], schema: schema.items })
      pending.push({ path: [...path, '*'], at: [...at, String(size)], schema: schema.items })
    }
    const { additionalProperties: values } = schema
    if (typeof values === 'object') {
      const keys = isRecord(there) ? Object.keys(there) : []
      for (const key of [...keys, keyOf(path)]) {
        pending.push({ path: [...path, '*'], at: [...at, key], schema: values })
      }
    }
  }
}

function resolved(schema: Schema, schemas: Schemas): Schema {
  const { $ref, allOf, oneOf } = schema
  if ($ref !== undefined) return resolved(schemas[$ref.replace(REFS, '')] ?? {}, schemas)
  const [only] = allOf ?? []
  if (only !== undefined) return resolved(only, schemas)
  const text = oneOf?.find(({ type }) => type === 'string')
  return text === undefined ? schema : { ...schema, ...text }
}

/** Values that Kubernetes takes at fields of that name, where its type says too little. */
const BY_NAME: Readonly<Record<string, readonly unknown[]>> = {
  ip: ['192.0.2.1'],
  ipMode: ['VIP'],
  hostname: ['other.example.com'],
  image: ['other:1'],
  port: [81],
  containerPort: [81],
  hostPort: [81],
  mountPath: ['/other'],
  devicePath: ['/dev/other'],
  topologyKey: ['example.com/zone'],
  cpu: ['1'],
  protocol: ['UDP', 'TCP'],
  effect: ['NoSchedule'],
  whenUnsatisfiable: ['DoNotSchedule'],
  maxSkew: [2],
  minDomains: [1],
  namespaceSelector: [{ matchLabels: { app: 'other' } }],
  imagePullPolicy: ['Never', 'Always'],
  terminationMessagePolicy: ['FallbackToLogsOnError'],
  terminationMessagePath: ['/other'],
  dnsPolicy: ['Default', 'None'],
  procMount: ['Default'],
  scheme: ['HTTPS'],
  uid: ['00000000-0000-0000-0000-000000000000'],
  mountPropagation: ['HostToContainer', 'None'],
  accessModes: [['ReadWriteOnce']],
  volumeMode: ['Block'],
  cachingMode: ['None'],
  medium: ['Memory'],
  fieldPath: ['metadata.name'],
  divisor: ['1'],
  holderIdentity: ['other', 'other\n'],
  registry: ['other:1'],
  iqn: ['iqn.2001-04.com.example:other'],
  initiatorName: ['iqn.2001-04.com.example:other'],
  diskURI: ['https://other.blob.core.windows.net/a/b.vhd'],
  resourceName: ['cpu'],
  resource: ['limits.cpu'],
  expirationSeconds: [3_600],
  finalizers: [['example.com/other']],
  fieldsType: ['FieldsV1'],
  fieldsV1: [{}],
  operation: ['Update'],
  preemptionPolicy: ['Never'],
  nodeAffinityPolicy: ['Ignore'],
  nodeTaintsPolicy: ['Honor'],
  stopSignal: ['SIGTERM'],
  exitCodes: [{ operator: 'In', values: [3] }],
  restartPolicy: ['Always', 'Never', 'NotRequired'],
  os: [{ name: 'linux' }],
  defaultMode: [0o400],
  mode: [0o400],
  sizeLimit: ['1Mi'],
  weight: [1],
  tolerationSeconds: [1],
}

const TIMES: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': '2026-01-01T00:00:00.000000Z',
}

/** More than a field of Kubernetes means. */
const LARGE = 2_000_000

/** Values of a field that differ from those of most objects. */
function samplesOf(path: readonly string[], schema: Schema, schemas: Schemas): readonly unknown[] {
  const name = path.at(-1) === '*' ? (path.at(-2) ?? '') : (path.at(-1) ?? '')
  const known = path.at(-1) === '*' ? undefined : BY_NAME[name]
  if (known !== undefined && (schema.type !== 'string' || known.every((each) => typeof each === 'string'))) return known
  const [parent] = path
    .slice(0, -1)
    .filter((each) => each !== '*')
    .slice(-1)
  // Some paths must be relative, others must not.
  if (name === 'path') return [RELATIVE.has(parent ?? '') ? 'other' : '/other']
  // The volume that there is.
  if (name === 'name' && parent === 'volumeMounts') return ['other', 'key']
  if (path.at(-1) === '*' && name === 'finalizers') return ['example.com/other']
  if (schema.enum !== undefined) return schema.enum
  switch (schema.type) {
    case 'boolean':
      return [true, false]
    case 'integer':
    case 'number':
      return [Math.max(2, schema.minimum ?? 0), LARGE]
    case 'string':
      if (schema.format === 'date-time')
        return path.at(-1) === 'eventTime' || /^(acquireTime|renewTime|lastObservedTime)$/.test(name)
          ? ['2026-01-01T00:00:00.000000Z']
          : [TIMES['date-time']]
      if (schema.format === 'byte') return ['b3RoZXI=']
      if (schema.format === 'quantity') return ['1']
      return /Policy$|^type$|^operator$|Mode$/.test(name) ? [...ENUMS(name), 'other'] : ['other']
    case 'array':
      return [[...itemOf(path, schema, schemas)]]
    default:
      return objectSamples(path, schema, schemas)
  }
}

const RELATIVE: ReadonlySet<string> = new Set(['items', 'serviceAccountToken', 'clusterTrustBundle', 'podCertificate'])

/** Values of enumerations that the schema of core types does not list. */
function ENUMS(name: string): readonly string[] {
  if (name === 'operator') return ['Exists', 'In']
  if (name === 'type')
    return ['Unconfined', 'RuntimeDefault', 'Recreate', 'ClusterIP', 'File', 'kubernetes.io/tls', 'Warning', 'Normal']
  return []
}

/** A key that the map may have. */
function keyOf(path: readonly string[]): string {
  return /^(requests|limits|overhead)$/.test(path.at(-1) ?? '') ? 'example.com/other' : 'example.com.other'
}

function objectSamples(path: readonly string[], schema: Schema, schemas: Schemas): readonly unknown[] {
  const { additionalProperties: values } = schema
  if (typeof values === 'object') {
    const [sample = 'other'] = samplesOf([...path, '*'], resolved(values, schemas), schemas)
    return [{ [keyOf(path)]: sample }]
  }
  return [requiredIn(path, schema, schemas)]
}

function itemOf(path: readonly string[], schema: Schema, schemas: Schemas): readonly unknown[] {
  if (schema.items === undefined) return []
  return samplesOf([...path, '*'], resolved(schema.items, schemas), schemas).slice(0, 1)
}

/** Fields that Kubernetes requires although its schema does not, by the field that the object, or its list, is. */
const ALSO_REQUIRED: Readonly<Record<string, readonly string[]>> = {
  containers: ['image'],
  initContainers: ['image', 'restartPolicy'],
  ephemeralContainers: ['image'],
  tolerations: ['key'],
  ingress: ['ip'],
  iscsi: ['iqn'],
  scaleIO: ['volumeName', 'gateway', 'system'],
  storageos: ['volumeName'],
  fc: ['targetWWNs', 'lun'],
  flocker: ['datasetName'],
  ephemeral: ['volumeClaimTemplate'],
  volumeClaimTemplate: ['spec'],
  items: ['fieldRef', 'path', 'key'],
  resourceClaims: ['name', 'resourceClaimName'],
  envFrom: ['secretRef'],
  clusterTrustBundle: ['name', 'path'],
  ...Object.fromEntries(
    ['configMap', 'secret', 'secretRef', 'configMapRef', 'secretKeyRef', 'configMapKeyRef', 'nodePublishSecretRef'].map(
      (name) => [name, ['name']],
    ),
  ),
}

/** An object with its required fields. */
function requiredIn(path: readonly string[], schema: Schema, schemas: Schemas): Fields {
  const of = path.at(-1) === '*' ? path.at(-2) : path.at(-1)
  const isClaim = of === 'spec' && path.includes('volumeClaimTemplate')
  const more = isClaim ? ['accessModes', 'resources'] : (ALSO_REQUIRED[of ?? ''] ?? [])
  const names = new Set([...(schema.required ?? []), ...more.filter((name) => schema.properties?.[name] !== undefined)])
  if (of === 'resources' && path.includes('volumeClaimTemplate')) return { requests: { storage: '1Gi' } }
  return Object.fromEntries(
    [...names].map((name) => {
      const field = resolved(schema.properties?.[name] ?? {}, schemas)
      return [name, samplesOf([...path, name], field, schemas)[0]]
    }),
  )
}

/** The required fields of the object at a path of the root's schema. */
function requiredOf(path: readonly string[], root: Schema, schemas: Schemas): Fields {
  let schema = resolved(root, schemas)
  for (const name of path) {
    const { items, additionalProperties: values } = schema
    const next = name === '*' ? (items ?? (typeof values === 'object' ? values : {})) : schema.properties?.[name]
    schema = resolved(next ?? {}, schemas)
  }
  return requiredIn(path, schema, schemas)
}

function emptyOf(schema: Schema, schemas: Schemas): unknown {
  switch (resolved(schema, schemas).type) {
    case 'string':
      return resolved(schema, schemas).format === 'date-time' ? undefined : ''
    case 'array':
      return []
    case 'integer':
    case 'number':
      return 0
    case 'boolean':
      return undefined
    default:
      return {}
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valueAt(object: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  }, object)
}

/** A copy with another value at a path, whose parents are made where they are missing; undefined removes it. */
function changed(
  object: Fields,
  at: readonly string[],
  value: unknown,
  fill: (length: number) => Fields = () => ({}),
): Fields {
  const copy = structuredClone(object) as Record<string, unknown>
  let here: Record<string, unknown> = copy
  at.forEach((name, index) => {
    if (index === at.length - 1) {
      if (value !== undefined) here[name] = value
      else if (Array.isArray(here)) here.splice(Number(name), 1)
      else delete here[name]
      return
    }
    const next = at[index + 1] ?? ''
    if (typeof here[name] !== 'object' || here[name] === null)
      here[name] = /^[0-9]+$/.test(next) ? [] : { ...fill(index + 1) }
    here = here[name] as Record<string, unknown>
  })
  return copy
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
