import fc from 'fast-check'
import { kinds } from '../../src/kinds/index.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { type CustomResource, statusOf } from '../../src/managed/cr.ts'
import { markerOf } from '../../src/managed/identity/marker.ts'
import { secretType } from '../../src/managed/inputs/inputs.ts'
import { resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import { OUTPUT_OF } from '../../src/managed/names.ts'
import type { ApiFault } from './model-account-client.ts'
import type { KubeFault } from './model-kube-client.ts'
import { times } from './model-operator.ts'
import { liveThrough, suffer } from './model-trouble.ts'
import { ModelWorld } from './model-world.ts'
import { tokenPlaceIn } from './output-of-spec.ts'

type Fields = Readonly<Record<string, unknown>>

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const NAMESPACE = 'shop'
const FOREIGN = { keep: btoa('mine') }

/** The resources of every story, each with its possible specs. */
const RESOURCES: readonly { readonly kind: string; readonly name: string; readonly specs: readonly Fields[] }[] = [
  {
    kind: 'APIKey',
    name: 'ci',
    specs: [
      {},
      { output: { secret: { name: 'ci-other' } } },
      { output: { secret: { key: 'key' } }, description: 'for CI' },
      { rawMetadata: 'mine' },
    ],
  },
  {
    kind: 'TunnelCredential',
    name: 'agent',
    specs: [
      {},
      { acl: ['bind:*.example.com'], output: { secret: { name: 'agent-other' } } },
      { metadata: { team: 'shop' }, output: { secret: { name: 'agent-other', key: 'key', labels: { team: 'shop' } } } },
      { acl: ['*'], description: 'agents' },
    ],
  },
]

const apiFaults: readonly ApiFault[] = ['lost', 'late', 'unsent', 'broken', 'limited', 'refused', 'doubled']
const kubeFaults: readonly KubeFault[] = ['lost', 'unsent']
const subject = fc.nat({ max: RESOURCES.length - 1 })
const which = fc.nat({ max: 3 })

/** Changes of a subject's Secret by hand. */
const meddling = ['delete', 'alter', 'forget', 'disown', 'add'] as const

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('apply' as const), subject, spec: which }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('delete' as const), subject }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('edit during POST' as const), subject, spec: which }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('crash' as const), downMs: fc.constantFrom(0, 100, 3000) }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('api fault' as const), fault: fc.constantFrom(...apiFaults) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('kube fault' as const), fault: fc.constantFrom(...kubeFaults) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('meddle' as const), subject, how: fc.constantFrom(...meddling) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('foreign delete' as const), subject }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('occupy' as const), subject, spec: which }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('restore' as const), subject, collect: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('lose status' as const), subject }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('collect garbage' as const) }) },
)

/** A step of a story, and how long the world runs afterwards. */
export type Step = (typeof step extends fc.Arbitrary<infer T> ? T : never) & { readonly thenMs: number }

const thenMs = fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 25, 60, 600, 1500, 4000)

export const tokenStories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.tuple(step, thenMs).map(([what, pause]) => ({ ...what, thenMs: pause })),
  { minLength: 1, maxLength: 14 },
)

/** Plays a story, then waits until everything is at rest. */
export async function liveWithTokens(story: readonly Step[]): Promise<ModelWorld> {
  const world = ModelWorld.start()
  await liveThrough(world, story, act)
  for (const secret of foreignSecrets(world)) {
    if (!isUntouched(secret)) world.violations.push(`somebody else's Secret was touched: ${secret.metadata.name}`)
    world.kube.delete(secretType, secret.metadata)
  }
  // Longer than the slow retry of a refused write, with its jitter, and as many resyncs.
  await world.clock.advance(720_000)
  world.kube.collectGarbage(secretType)
  await world.clock.advance(1000)
  return world
}

async function act(world: ModelWorld, what: Step): Promise<void> {
  switch (what.type) {
    case 'apply':
      world.apply(...specAt(what.subject, what.spec))
      return
    case 'edit during POST':
      world.duringPost = () => world.apply(...specAt(what.subject, what.spec))
      return
    case 'delete':
      world.delete(...nameAt(what.subject))
      return
    case 'crash':
    case 'api fault':
    case 'kube fault':
      await suffer(world, what)
      return
    case 'meddle':
      for (const secret of secretsOf(world, world.get(...nameAt(what.subject)))) meddle(world, secret, what.how)
      return
    case 'foreign delete': {
      const found = at(world, what.subject)
      if (found !== undefined) world.account.delete(found.path, found.id)
      return
    }
    case 'occupy':
      occupy(world, what.subject, what.spec)
      return
    case 'restore':
    case 'lose status':
      await forget(world, what)
      return
    case 'collect garbage':
      world.kube.collectGarbage(secretType)
  }
}

function meddle(world: ModelWorld, { metadata, data = {} }: Secret, how: (typeof meddling)[number]): void {
  switch (how) {
    case 'delete':
      world.kube.delete(secretType, metadata)
      return
    case 'alter':
      patchSecret(world, metadata, { data: Object.fromEntries(Object.keys(data).map((key) => [key, btoa('altered')])) })
      return
    case 'forget':
      patchSecret(world, metadata, { metadata: { annotations: null, labels: null } })
      return
    case 'disown':
      patchSecret(world, metadata, { metadata: { ownerReferences: null } })
      return
    case 'add':
      patchSecret(world, metadata, { data: FOREIGN })
  }
}

function patchSecret(world: ModelWorld, key: KubeObject['metadata'], patch: Fields): void {
  world.kube.mergePatch(secretType, key, patch)
}

/** Creates a foreign Secret where the token of a spec would go, unless there is one. */
function occupy(world: ModelWorld, index: number, spec: number): void {
  const [, resource, asked] = specAt(index, spec)
  const key = { namespace: NAMESPACE, name: tokenPlaceIn(asked, resource).name }
  if (world.kube.get(secretType, key) !== undefined) return
  world.kube.create(secretType, key, { metadata: { labels: { foreign: 'true' } }, data: FOREIGN })
}

/**
 * The status is lost, and requests sent before have ended; an object with `rawMetadata` is known only by the status.
 */
async function forget(
  world: ModelWorld,
  what:
    | { readonly type: 'restore'; readonly collect: boolean; readonly subject: number }
    | { readonly type: 'lose status'; readonly subject: number },
): Promise<void> {
  world.kill()
  await world.clock.advance(2 * times.requestTimeoutMs)
  const [kind, name] = nameAt(what.subject)
  const cr = world.get(kind, name)
  const known = world.account.list(pathOf(kind)).every((object) => markerOf(object) !== undefined)
  if (what.type === 'restore' && known) {
    world.restore(kind, name)
    if (what.collect) world.kube.collectGarbage(secretType)
  }
  if (what.type === 'lose status' && cr !== undefined) {
    const type = kinds.find(({ definition }) => definition.kind === kind)
    if (type !== undefined) {
      world.kube.mergePatch(resourceTypeOf(type), cr.metadata, { status: null }, { subresource: 'status' })
    }
  }
  world.startOperator()
}

/** Secrets that the operator must not touch. */
function foreignSecrets(world: ModelWorld): readonly Secret[] {
  return secrets(world).filter(({ metadata }) => metadata.labels?.foreign === 'true')
}

function isUntouched({ data, metadata: { annotations, ownerReferences } }: Secret): boolean {
  return JSON.stringify(data) === JSON.stringify(FOREIGN) && annotations === undefined && ownerReferences === undefined
}

/** The account's objects of a resource's collection, and the state of its token. */
export interface TokenReport {
  readonly resource: string
  /** Ids of all objects in the collection. */
  readonly held: readonly string[]
  /** The id in the status. */
  readonly id: string | undefined
  /** Id of the object whose token is in the resource's Secret. */
  readonly tokenOf: string | undefined
  /** Names of the marked Secrets that the resource owns, each with its keys except those of others. */
  readonly secrets: readonly string[]
  /** The Secret that its spec asks for. */
  readonly wanted: string
  /** Other places that contain a token ever shown. */
  readonly leaks: readonly string[]
}

export function tokenReports(world: ModelWorld): readonly TokenReport[] {
  return RESOURCES.flatMap(({ kind, name }) => {
    const cr = world.get(kind, name)
    const held = world.account.list(pathOf(kind)).map(({ id }) => id)
    const own = secretsOf(world, cr)
    const place = tokenPlaceIn(cr?.spec ?? {}, name)
    const token = own.find(({ metadata }) => metadata.name === place.name)?.data?.[place.key]
    return [
      {
        resource: `${kind}/${name}`,
        held,
        id: cr === undefined ? undefined : statusOf(cr).id,
        tokenOf: token === undefined ? undefined : world.account.tokens.get(atob(token)),
        secrets: own.filter(isNoted).map(({ metadata, data = {} }) => `${metadata.name}: ${keysOf(data)}`),
        wanted: cr === undefined ? '' : `${place.name}: ${place.key}`,
        leaks: leaks(world, own),
      },
    ]
  })
}

/** A Secret whose annotation was removed is no longer recognized; it is deleted with its owner. */
function isNoted({ metadata }: Secret): boolean {
  return metadata.annotations?.[OUTPUT_OF] !== undefined
}

function keysOf(data: Fields): string {
  return Object.keys(data)
    .filter((key) => !(key in FOREIGN))
    .join(', ')
}

function leaks(world: ModelWorld, own: readonly Secret[]): readonly string[] {
  const ours = new Set(own.map(({ metadata }) => metadata.name))
  const others = secrets(world).filter(({ metadata }) => !ours.has(metadata.name))
  const places: readonly (readonly [string, unknown])[] = [
    ['log', world.log],
    ['resources', world.all()],
    ['account', world.accountResource ?? null],
    ['other Secrets', others.filter(({ metadata }) => !RESOURCES.some(({ name }) => metadata.name.startsWith(name)))],
  ]
  return places.filter(([, content]) => containsToken(JSON.stringify(content))).map(([place]) => place)
}

const TOLD = 'token-told-once-'
/** The same in base64, without the part that depends on the following characters. */
const TOLD_ENCODED = btoa(TOLD).slice(0, 20)

function containsToken(text: string): boolean {
  return text.includes(TOLD) || text.includes(TOLD_ENCODED)
}

function secretsOf(world: ModelWorld, cr: CustomResource | undefined): readonly Secret[] {
  if (cr === undefined) return []
  return secrets(world).filter(({ metadata }) => {
    return metadata.ownerReferences?.some(({ uid }) => uid === cr.metadata.uid) ?? false
  })
}

function secrets(world: ModelWorld): readonly Secret[] {
  return world.kube.list<Secret>(secretType).items.filter(({ metadata }) => metadata.namespace === NAMESPACE)
}

function at(world: ModelWorld, index: number): { readonly path: string; readonly id: string } | undefined {
  const cr = world.get(...nameAt(index))
  const remote = cr === undefined ? undefined : world.remote(cr)
  const found = world.account.all().find(({ object }) => object === remote)
  return found === undefined ? undefined : { path: found.path, id: found.object.id }
}

function pathOf(kind: string): string {
  return kind === 'APIKey' ? 'api_keys' : 'credentials'
}

function nameAt(index: number): readonly [string, string] {
  const resource = RESOURCES[index]
  if (resource === undefined) throw new RangeError(`there is no resource ${index}`)
  return [resource.kind, resource.name]
}

function specAt(index: number, spec: number): [string, string, Fields] {
  const [kind, name] = nameAt(index)
  return [kind, name, RESOURCES[index]?.specs[spec] ?? {}]
}
