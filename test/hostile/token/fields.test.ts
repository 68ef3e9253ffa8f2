import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../../controlplane/control-plane.ts'
import type { DescribedWrite } from '../../../scripts/permissions/operator-writes.ts'
import { DNS_ENDPOINT_CRD } from '../../builders/dns-endpoints.ts'
import { installCRDs } from '../../builders/install-crds.ts'
import { type KubeAnswer, KubeRequests } from '../../builders/kube-requests.ts'
import { installDefinitions } from '../../cluster/support/definitions.ts'
import { described, listing } from '../../cluster/support/described-writes.ts'
import { OPERATOR_POLICY } from '../../cluster/support/operator-policy.ts'
import { until } from '../../cluster/support/wait.ts'
import { Release, WRITES } from '../../releases/release.ts'
import type { Fields } from './support/attempt.ts'
import { type Change, changesOf, isRecord, type Schemas } from './support/schema-walk.ts'
import { type Written, writtenObjects } from './support/written-objects.ts'

/** Namespace of the operator. */
const HOME = 'fields-op'
/** An operator with every right: what refuses is the policy. */
const OPERATOR = {
  'impersonate-user': `system:serviceaccount:${HOME}:culvert`,
  'impersonate-group': 'system:masters',
}
const NAMESPACE = 'default'
/** Requests at a time. */
const CONCURRENCY = 8

const resources = new AsyncDisposableStack()
const schemas = new Map<string, Promise<Schemas>>()
let cluster: ControlPlane
let requests: KubeRequests

beforeAll(async () => {
  const data = inject('clusterData')
  // Without the garbage collector: the owners of these objects do not exist.
  const controllers = ['namespace-controller', 'serviceaccount-controller']
  cluster = resources.use(await startControlPlane({ controllers, ...(data && { data }) }))
  if (data === undefined) await installDefinitions(cluster)
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  requests = resources.use(await KubeRequests.of(cluster.kubeconfigPath, 'thief'))
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } }
  expect((await requests.send('POST', '/api/v1/namespaces', { body: home })).status).toBe(201)
  await loosenCRDs()
}, 120_000)
afterAll(() => resources.disposeAsync(), 60_000)

/** Takes every rule out of the CRDs but the types of fields, so that only the policy refuses. */
async function loosenCRDs(): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const { body } = await requests.send('GET', path)
  const { items } = body as never as {
    readonly items: readonly (Fields & { readonly metadata: { readonly name: string } })[]
  }
  for (const crd of items) {
    const loose = JSON.parse(JSON.stringify(crd), (_key, value) =>
      isRecord(value) && 'type' in value ? unruled(value) : value,
    )
    const { status, body: answer } = await requests.send('PUT', `${path}/${crd.metadata.name}`, { body: loose })
    expect(status, String(answer.message)).toBe(200)
  }
  // The API server follows CRDs by watches.
  await until('the rules are out of force', async () => {
    const edge = { apiVersion: 'culvert.dev/v1alpha1', kind: 'Edge', metadata: { name: 'loose' }, spec: {} }
    const query = new URLSearchParams({ dryRun: 'All' })
    const path = `/apis/culvert.dev/v1alpha1/namespaces/${NAMESPACE}/edges`
    return (await requests.send('POST', path, { query, body: edge })).status === 201
  })
}

/** Members of a schema that say what a field is, not which values it takes. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'items',
  'additionalProperties',
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
])

function unruled(schema: Fields): Fields {
  // A property of the name `type` is no type.
  if (typeof schema.type !== 'string' || 'jsonPath' in schema || 'status' in schema) return schema
  return Object.fromEntries(Object.entries(schema).filter(([name]) => STRUCTURE.has(name)))
}

function pathOf({ type: { group, version, plural, namespaced }, isAtHome = false }: Written): string {
  const api = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return `${api}${namespaced ? `/namespaces/${isAtHome ? HOME : NAMESPACE}` : ''}/${plural}`
}

async function schemasOf({ type: { group, version } }: Written): Promise<Schemas> {
  const path = group === '' ? `/openapi/v3/api/${version}` : `/openapi/v3/apis/${group}/${version}`
  const found =
    schemas.get(path) ??
    requests
      .send('GET', path)
      .then(({ body }) => (body as never as { components: { schemas: Schemas } }).components.schemas)
  schemas.set(path, found)
  return found
}

/** How the API server answered a change. */
type Outcome = 'refused' | 'unchanged' | 'invalid' | 'changed'

/** Without what differs between two answers to the same request. */
function essence({ body }: KubeAnswer): string {
  return JSON.stringify(body, (key, value) =>
    ['managedFields', 'resourceVersion', 'uid', 'creationTimestamp', 'generation'].includes(key) ? undefined : value,
  )
}

function outcomeOf(answer: KubeAnswer, plain: string): Outcome {
  const { status, body } = answer
  if (status < 300) return essence(answer) === plain ? 'unchanged' : 'changed'
  return status === 403 && String(body.message).includes(OPERATOR_POLICY) ? 'refused' : 'invalid'
}

/** The shapes of what the operator writes of that type. */
function shapesOf({ type, subresource }: Written): readonly DescribedWrite[] {
  return described.filter((each) => {
    return each.type.plural === type.plural && each.type.group === type.group && each.subresource === subresource
  })
}

/** A Secret's `stringData` is stored as its `data`. */
function asStored([first = '', ...rest]: readonly string[]): readonly string[] {
  return [first === 'stringData' ? 'data' : first, ...rest]
}

interface Tried {
  readonly request: 'create' | 'update'
  readonly change: Change
  readonly outcome: Outcome
  readonly message: string
}

async function tryAll(written: Written): Promise<readonly Tried[]> {
  const { type, subresource, object, isCreated } = written
  const all = await schemasOf(written)
  const [, schema] =
    Object.entries(all).find(([, each]) => {
      const [found] =
        (each as { 'x-kubernetes-group-version-kind'?: readonly Fields[] })['x-kubernetes-group-version-kind'] ?? []
      return found?.kind === type.kind && found.group === type.group && found.version === type.version
    }) ?? []
  if (schema === undefined) throw new Error(`the API server publishes no schema of ${type.kind}`)
  const path = pathOf(written)
  const { name } = object.metadata as { readonly name: string }
  const query = new URLSearchParams({ dryRun: 'All', fieldValidation: 'Ignore' })
  const tried: Tried[] = []
  const run = async (
    request: Tried['request'],
    send: (body: Fields) => Promise<KubeAnswer>,
    base: Fields,
  ): Promise<void> => {
    const plain = await send(base)
    const isRefused = plain.status === 403 && String(plain.body.message).includes(OPERATOR_POLICY)
    expect(isRefused, `${written.title}: ${plain.body.message}`).toBe(written.isNeverWritten ?? false)
    const changes = changesOf(base, schema, all)
    const work = async (): Promise<void> => {
      for (let next = changes.next(); !next.done; next = changes.next()) {
        const change = next.value
        const answer = await send(change.object)
        const outcome = outcomeOf(answer, essence(plain))
        tried.push({ request, change, outcome, message: String(answer.body.message ?? '') })
        if (outcome !== 'invalid' || change.alone === undefined) continue
        const alone = await send(change.alone)
        tried.push({
          request,
          change,
          outcome: outcomeOf(alone, essence(plain)),
          message: String(alone.body.message ?? ''),
        })
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
  }
  if (isCreated) await run('create', (body) => requests.send('POST', path, { query, body, headers: OPERATOR }), object)
  const made = await requests.send('POST', path, { body: object })
  expect(made.status, String(made.body.message)).toBe(201)
  try {
    const at = `${path}/${name}${subresource === undefined ? '' : `/${subresource}`}`
    if (subresource !== undefined && object.status !== undefined) {
      await requests.send('PUT', at, { body: { ...made.body, status: object.status } })
    }
    const stored = await requests.send('GET', `${path}/${name}`)
    const { managedFields: _, ...metadata } = stored.body.metadata as Fields
    const base = { ...stored.body, metadata }
    if (type.plural !== 'events')
      await run('update', (body) => requests.send('PUT', at, { query, body, headers: OPERATOR }), base)
  } finally {
    await requests.send('DELETE', `${path}/${name}`)
  }
  return tried
}

/** Where Kubernetes itself refuses each value that is not there already, in which order the policy never sees it. */
const REFUSED_BY_KUBERNETES: readonly RegExp[] = [
  // Part of the address of the request.
  /^(apiVersion|kind|metadata|metadata\.(name|namespace|uid|resourceVersion))$/,
  // Immutable, or without its parts no object of its kind.
  /^(spec|spec\.template|spec\.template\.spec|spec\.template\.metadata|spec\.template\.metadata\.labels|type)$/,
  /^spec\.selector/,
  /^metadata\.(generation|creationTimestamp|deletion\w+|managedFields.*)$/,
  // Not in templates.
  /\.ephemeralContainers$/,
  /\.volumeClaimTemplate\.metadata/,
  /^deprecated/,
]

/** Where each value that Kubernetes takes may be written. */
const ALL_DESCRIBED: readonly RegExp[] = [
  // An Event is Normal or a Warning.
  /^create type$/,
  // The template of a Tunnel sets them, which these tests allow.
  /^\w+ spec\.template\.spec\.(affinity|nodeSelector|tolerations|topologySpreadConstraints|priorityClassName)/,
  /^\w+ spec\.template\.spec\.containers\.\*\.resources/,
]

let total = 0

for (const written of writtenObjects()) {
  const { title, isForNight } = written
  test(`${title}: no field but those described is written`, {
    tags: isForNight ? ['nightly'] : [],
    timeout: 600_000,
  }, async () => {
    const tried = await tryAll(written)
    total += tried.length
    const text = ({ request, change, message }: Tried): string => {
      return `${request} ${change.what} ${change.path.join('.')} ${message}`.slice(0, 300)
    }
    const changes = tried.filter(({ outcome }) => outcome === 'changed')
    if (written.isNeverWritten) {
      expect(changes.map(text), title).toEqual([])
      return
    }
    const shapes = shapesOf(written)
    const listings = ({ change }: Tried): readonly string[] =>
      shapes.map(({ shape }) => listing(shape, asStored(change.path)))
    expect(changes.filter((each) => listings(each).every((found) => found === 'no')).map(text)).toEqual([])

    const paths = Map.groupBy(tried, ({ request, change }) => `${request} ${change.path.join('.')}`)
    const outcomes = new Map([...paths].map(([path, all]) => [path, new Set(all.map(({ outcome }) => outcome))]))
    // What Kubernetes itself refuses, whatever its value, is refused with what contains it.
    const untried = [...outcomes].filter(([path, found]) => {
      if (!found.has('invalid') || found.has('refused') || found.has('changed')) return false
      const [request, names = ''] = path.split(' ')
      const parents = names.split('.').map((_, index, all) => `${request} ${all.slice(0, index).join('.')}`)
      const isRefused = parents.some((parent) => outcomes.get(parent)?.has('refused') ?? false)
      return !isRefused && !REFUSED_BY_KUBERNETES.some((pattern) => pattern.test(names))
    })
    expect(untried.flatMap(([path]) => paths.get(path)?.slice(0, 1).map(text) ?? [])).toEqual([])

    // A described value is not any value: some other is refused, of the field or of what is in it.
    const refused = [...outcomes].filter(([, found]) => found.has('refused')).map(([path]) => path)
    const loose = [...paths].filter(([path, all]) => {
      const isChecked = all.every((each) => listings(each).every((found) => found === 'some'))
      const isRefused = refused.some((each) => each === path || each.startsWith(`${path}.`))
      return isChecked && outcomes.get(path)?.has('changed') && !isRefused
    })
    expect(loose.map(([path]) => path).filter((path) => !ALL_DESCRIBED.some((each) => each.test(path)))).toEqual([])
  })
}

test('what somebody changed in an Edge of a Service does not keep the operator from releasing it', async () => {
  const edge = writtenObjects().find(({ title }) => title === 'Edge shop-80 with an address') as Written
  const spec = {
    ...(edge.object.spec as Fields),
    hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'other' } }],
  }
  const metadata = { ...(edge.object.metadata as Fields), finalizers: ['culvert.dev/remote'] }
  const path = pathOf(edge)
  const made = await requests.send('POST', path, { body: { ...edge.object, metadata, spec } })
  expect(made.status, String(made.body.message)).toBe(201)
  const { status, body } = await requests.send('PATCH', `${path}/shop-80`, {
    body: { metadata: { finalizers: [] } },
    type: 'application/merge-patch+json',
    headers: OPERATOR,
  })
  expect(status, String(body.message)).toBe(200)
  await requests.send('DELETE', `${path}/shop-80`)
})

// The policy is renewed before the operator, so that the former one writes under it for a while.
for (const { index, folder } of (await Release.all()).filter(({ isWhole }) => isWhole)) {
  test(`what the operator of ${index.version} creates is admitted`, async () => {
    const writes = JSON.parse(await readFile(join(folder, WRITES), 'utf8')) as readonly Written[]
    for (const written of writes) {
      const query = new URLSearchParams({ dryRun: 'All' })
      const { status, body } = await requests.send('POST', pathOf(written), {
        query,
        body: written.object,
        headers: OPERATOR,
      })
      expect(status, `${written.title}: ${body.message}`).toBe(201)
    }
  })
}

test('prints how many changes were tried', () => {
  console.log(`${total} changes of single fields were tried`)
  expect(total).toBeGreaterThan(10_000)
})
