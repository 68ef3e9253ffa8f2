import fc from 'fast-check'
import { expect } from 'vitest'
import type { RemoteObject } from '../../src/api/types.ts'
import { type CustomResource, internalOf } from '../../src/managed/cr.ts'
import type { OwnMetadata } from '../../src/managed/descriptor/metadata.ts'
import { formatMarker, markerOf } from '../../src/managed/identity/marker.ts'
import { caPem, partnerCaPem } from './contract/ca-pem.ts'
import type { ApiFault } from './model-account-client.ts'
import type { KubeFault } from './model-kube-client.ts'
import { INSTALLATION, times } from './model-operator.ts'
import { liveThrough, suffer } from './model-trouble.ts'
import { ModelWorld } from './model-world.ts'

type Fields = Readonly<Record<string, unknown>>

const tunnels = (app: string, more: Fields = {}): Fields => ({
  type: 'TunnelGroup',
  tunnelGroup: { labels: { app } },
  ...more,
})
const rule = (cidr: string, action = 'Allow', more: Fields = {}): Fields => ({ cidr, action, ...more })

const shop = (more: Fields = {}): Fields => ({
  protocol: 'TLS',
  hostports: [],
  mutualTLS: { certificateAuthorityRefs: [{ name: 'staff' }] },
  ...more,
})

/**
 * The resources of every story, each with its possible specs. The failover backend refers to the first, the edge to the
 * authority, whose PEM is immutable; a bot has no metadata.
 */
const RESOURCES: readonly { readonly kind: string; readonly name: string; readonly specs: readonly Fields[] }[] = [
  {
    kind: 'Backend',
    name: 'web',
    specs: [
      tunnels('one'),
      tunnels('two'),
      tunnels('one', { rawMetadata: 'mine' }),
      tunnels('three', { description: 'the shop', metadata: { team: 'shop', 1: 'é' } }),
    ],
  },
  {
    kind: 'Backend',
    name: 'spare',
    specs: [
      { type: 'Failover', failover: { backendRefs: [{ name: 'web' }] } },
      { type: 'Failover', failover: { backendRefs: [{ name: 'web' }] }, description: 'in need' },
    ],
  },
  {
    kind: 'IPPolicy',
    name: 'office',
    specs: [
      { rules: [rule('10.0.0.0/8'), rule('10.1.0.0/16', 'Deny')] },
      { rules: [rule('10.0.0.0/8', 'Deny'), rule('10.2.0.0/16')] },
      {
        rules: [rule('10.3.0.0/16', 'Allow', { description: 'third floor', metadata: { mine: '' } })],
        rawMetadata: 'mine',
      },
      { rules: [], allowEmpty: true },
    ],
  },
  {
    kind: 'CertificateAuthority',
    name: 'staff',
    specs: [{ caPEM: caPem }, { caPEM: partnerCaPem }, { caPEM: caPem, rawMetadata: 'mine' }],
  },
  { kind: 'Edge', name: 'shop', specs: [shop(), shop({ description: 'the shop' })] },
  {
    kind: 'BotUser',
    name: 'pipeline',
    specs: [{ displayName: 'pipeline' }, { displayName: 'pipeline', active: false }, { displayName: 'deployer' }],
  },
]

const apiFaults: readonly ApiFault[] = ['lost', 'late', 'unsent', 'broken', 'limited', 'refused', 'doubled']
const kubeFaults: readonly KubeFault[] = ['lost', 'unsent']
const subject = fc.nat({ max: 3 })

/** Which resources a story is about, by their index in `RESOURCES`: many steps on few reveal more than few on many. */
const FOCI: readonly (readonly number[])[] = [[0], [0, 1], [2], [3], [3, 4], [5], [0, 2, 3, 5]]

const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ type: fc.constant('apply' as const), subject, spec: fc.nat({ max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('delete' as const), subject }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('touch' as const), subject }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('edit during POST' as const), subject, spec: fc.nat({ max: 3 }) }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('crash' as const), downMs: fc.constantFrom(0, 100, 3000) }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('api fault' as const), fault: fc.constantFrom(...apiFaults) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('kube fault' as const), fault: fc.constantFrom(...kubeFaults) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('drift' as const), subject }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('foreign delete' as const), subject }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('restore' as const), subject }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('request' as const), subject }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('pause' as const), subject, on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('key' as const), valid: fc.boolean() }) },
)

/** A step of a story, and how long the world runs afterwards. */
type Step = (typeof step extends fc.Arbitrary<infer T> ? T : never) & { readonly thenMs: number }

const thenMs = fc.constantFrom(0, 1, 2, 3, 4, 5, 7, 10, 25, 60, 600, 1500, 4000)

/** Every story begins with its resources at rest or just applied. */
export const stories: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.constantFrom(...FOCI),
    fc.constantFrom(0, 10, 4000),
    fc.array(fc.tuple(step, thenMs), { minLength: 1, maxLength: 16, size: 'max' }),
  )
  .map(([focus, headStartMs, steps]) => {
    const applied = focus.map((subject): Step => ({ type: 'apply', subject, spec: 0, thenMs: headStartMs }))
    const lived = steps.map(([what, pause]): Step => {
      return 'subject' in what
        ? { ...what, subject: focus[what.subject % focus.length] ?? 0, thenMs: pause }
        : { ...what, thenMs: pause }
    })
    return [...applied, ...lived]
  })

/** Plays a story, then waits until everything is at rest. */
export async function live(story: readonly Step[]): Promise<ModelWorld> {
  const world = ModelWorld.start()
  await liveThrough(world, story, act)
  world.keys.set('key-1', world.account)
  for (const { kind, name } of RESOURCES)
    world.patch(kind, name, { metadata: { annotations: { 'culvert.dev/paused': null } } })
  leaveNothingWaiting(world)
  // Longer than the slow retry of a refused write, with its jitter, and as many resyncs.
  await world.clock.advance(720_000)
  return world
}

async function act(world: ModelWorld, what: Step): Promise<void> {
  switch (what.type) {
    case 'apply': {
      const { kind, name, specs } = resourceAt(what.subject)
      world.apply(kind, name, specs[what.spec % specs.length] ?? {})
      return
    }
    case 'edit during POST': {
      const { kind, name, specs } = resourceAt(what.subject)
      world.duringPost = () => world.apply(kind, name, specs[what.spec % specs.length] ?? {})
      return
    }
    case 'delete': {
      const { kind, name } = resourceAt(what.subject)
      world.delete(kind, name)
      return
    }
    case 'touch': {
      const { kind, name } = resourceAt(what.subject)
      world.patch(kind, name, { metadata: { labels: { touched: String(world.clock.monotonic()) } } })
      return
    }
    case 'crash':
    case 'api fault':
    case 'kube fault':
      await suffer(world, what)
      return
    case 'drift':
    case 'foreign delete':
      interfere(world, what)
      return
    case 'restore':
      await restore(world, what.subject)
      return
    case 'request':
    case 'pause': {
      const { kind, name } = resourceAt(what.subject)
      world.patch(kind, name, { metadata: { annotations: annotationsOf(world, what) } })
      return
    }
    case 'key':
      if (what.valid) world.keys.set('key-1', world.account)
      else world.keys.clear()
  }
}

function annotationsOf(
  world: ModelWorld,
  what: { readonly type: 'request' } | { readonly type: 'pause'; readonly on: boolean },
): Fields {
  return what.type === 'request'
    ? { 'culvert.dev/reconcile-requested-at': String(world.clock.monotonic()) }
    : { 'culvert.dev/paused': what.on ? 'true' : null }
}

function interfere(
  world: ModelWorld,
  what: { readonly type: 'drift' | 'foreign delete'; readonly subject: number },
): void {
  const { kind, name } = resourceAt(what.subject)
  const cr = world.get(kind, name)
  const remote = cr === undefined ? undefined : world.remote(cr)
  const found = world.account.all().find(({ object }) => object === remote)
  if (found === undefined) return
  const { path, object } = found
  if (what.type === 'drift') {
    world.account.update(path, object.id, { [path === 'bot_users' ? 'name' : 'description']: 'somebody was here' })
    for (const held of rulesOf(world, object.id).slice(0, 1)) world.account.delete('ip_policy_rules', held.id)
    return
  }
  if (world.account.userOf(object.id) === undefined) world.account.delete(path, object.id)
}

/**
 * Only resources whose object still carries their marker come back as their owners; and requests sent before must have
 * ended.
 */
async function restore(world: ModelWorld, index: number): Promise<void> {
  world.kill()
  await world.clock.advance(2 * times.requestTimeoutMs)
  const { kind, name } = resourceAt(index)
  const cr = world.get(kind, name)
  const remote = cr === undefined ? undefined : world.remote(cr)
  if (remote === undefined || markerOf(remote) !== undefined) world.restore(kind, name)
  world.startOperator()
}

/** Resolves what waits for the user: a target that is gone, or one whose dependents prevent its deletion. */
function leaveNothingWaiting(world: ModelWorld): void {
  const leave = (
    [user, userName]: readonly [string, string],
    [kind, name]: readonly [string, string],
    spec: Fields,
  ): void => {
    const target = world.get(kind, name)
    if (world.get(user, userName) === undefined) return
    if (target === undefined) world.apply(kind, name, spec)
    else if (target.metadata.deletionTimestamp !== undefined) world.delete(user, userName)
  }
  leave(['Backend', 'spare'], ['Backend', 'web'], tunnels('one'))
  leave(['Edge', 'shop'], ['CertificateAuthority', 'staff'], { caPEM: caPem })
}

function resourceAt(index: number) {
  const resource = RESOURCES[index]
  if (resource === undefined) throw new RangeError(`there is no resource ${index}`)
  return resource
}

function rulesOf(world: ModelWorld, policyId: string): readonly RemoteObject[] {
  return world.account.list('ip_policy_rules').filter((held) => (held.ip_policy as Fields).id === policyId)
}

/** The wanted content of the account: one object for each resource, as its spec says. */
export function expectedObjects(world: ModelWorld): readonly Fields[] {
  return world.all().flatMap((cr) => {
    const remote = world.remote(cr)
    const { description = '', metadata: own, rawMetadata } = cr.spec
    const metadata = rawMetadata ?? markerFor(cr, internalOf(cr).create?.nonce, own)
    const texts = cr.kind === 'BotUser' ? { description: '' } : { description, metadata }
    return [{ id: remote?.id, ...texts, ...kindFields(world, cr) }]
  })
}

/**
 * Ids of objects that are only reported. A duplicated create leaves one if the resource is deleted before any list has
 * shown the copy.
 */
export function reportedOrphans(world: ModelWorld): readonly string[] {
  return world.accountResource?.status?.orphans?.map(({ id }) => id) ?? []
}

/**
 * Markers with which more than one object was created: an attempt was sent while an earlier one could still take
 * effect.
 */
export function madeTwice(world: ModelWorld): readonly string[] {
  // A rule that was removed and is wanted again has the same marker as before.
  const created = world.account.created.filter((label) => !label.startsWith('ip_policy_rules '))
  return created.filter((label, index) => created.indexOf(label) !== index)
}

/** The account's actual content in the same form. Rules count as part of their policy. */
export function actualObjects(world: ModelWorld): readonly Fields[] {
  return world.account.all().flatMap(({ path, object }) => {
    if (path === 'ip_policy_rules') return []
    const { id, description, metadata, labels, backends, ca_pem, mutual_tls, name, active } = object
    const rules = rulesOf(world, id).map(({ cidr, action, description: text }) => ({
      cidr,
      action,
      description: text ?? '',
    }))
    const own = { labels, backends, ca_pem, mutual_tls, name, active }
    const fields = path === 'ip_policies' ? { rules: inOrder(rules) } : own
    return [{ id, description: description ?? '', metadata, ...fields }]
  })
}

function kindFields(world: ModelWorld, cr: CustomResource): Fields {
  const spec = cr.spec as Fields
  const {
    rules = [],
    tunnelGroup,
    failover,
  } = spec as {
    readonly rules?: readonly { readonly cidr: string; readonly action: string; readonly description?: string }[]
    readonly tunnelGroup?: { readonly labels: Fields }
    readonly failover?: { readonly backendRefs: readonly { readonly name: string }[] }
  }
  if (cr.kind === 'IPPolicy') {
    return {
      rules: inOrder(
        rules.map(({ cidr, action, description = '' }) => ({ cidr, action: action.toLowerCase(), description })),
      ),
    }
  }
  if (cr.kind === 'BotUser') return { name: spec.displayName, active: spec.active ?? true }
  if (cr.kind === 'CertificateAuthority') return { ca_pem: spec.caPEM }
  if (cr.kind === 'Edge') {
    const id = world.get('CertificateAuthority', 'staff')?.status?.id
    return { mutual_tls: { enabled: true, certificate_authorities: [expect.objectContaining({ id })] } }
  }
  const children = failover?.backendRefs.map(({ name }) => world.get('Backend', name)?.status?.id)
  return { labels: tunnelGroup?.labels, backends: children }
}

function inOrder<T extends { readonly cidr: unknown }>(rules: readonly T[]): readonly T[] {
  return [...rules].sort((left, right) => (String(left.cidr) < String(right.cidr) ? -1 : 1))
}

function markerFor(
  { kind, metadata: { namespace = '', name, uid } }: CustomResource,
  nonce = '',
  own?: OwnMetadata,
): string {
  return formatMarker({ installation: INSTALLATION, kind, namespace, name, uid, nonce }, own)
}
