import type { CustomResource } from '../../../../src/managed/cr.ts'
import { openAccess } from '../../../builders/access.ts'
import { NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'

type Fields = Readonly<Record<string, unknown>>

/** Another namespace, with the same account at the API. */
const ELSEWHERE = 'neighbours'
/** Opens the same account. */
const NEIGHBOURS_KEY = 'key-of-the-neighbours'

/** A dependent of a policy: a resource, or an object that was made by hand. */
export interface User {
  readonly title: string
  readonly kind: string
  /** Whether it is a resource, whose creation the operator can defer. */
  readonly isManaged: boolean
  /** Whether it is a resource in another namespace: it cannot use a policy that belongs to a resource by its id. */
  readonly isElsewhere: boolean
  /** Prepares the world for it. */
  prepare(world: SimulatedWorld): void
  /** Creates it; `policyId` is the id in the policy's status. */
  make(world: SimulatedWorld, policyId: string): Promise<void>
  /** Id of the object made by hand. */
  made(world: SimulatedWorld): string | undefined
  /** The resource, if it is one. */
  find(world: SimulatedWorld): CustomResource | undefined
  remove(world: SimulatedWorld): Promise<void>
}

const POLICY = { name: 'office' }
const FROM_ELSEWHERE = { ...POLICY, namespace: NAMESPACE }
/** Spec of a policy that the other namespace may refer to. By its id, no other namespace may use it. */
export const SHARED: Fields = { allowedReferences: [{ namespaces: [ELSEWHERE] }] }
const edgeSpec = (ref: Fields): Fields => ({ protocol: 'TCP', hostports: [], ipRestriction: { ipPolicyRefs: [ref] } })
const restrictionSpec = (ref: Fields): Fields => ({ type: 'Agent', enforcement: 'Enforce', ipPolicyRefs: [ref] })

export const users: readonly User[] = [
  resource('an edge by name', 'Edge', () => edgeSpec(POLICY)),
  resource('an edge by id', 'Edge', (id) => edgeSpec({ id })),
  resource('an edge of another namespace by id', 'Edge', (id) => edgeSpec({ id }), 'Account'),
  resource(
    'an edge of another namespace by id, through a ClusterAccount',
    'Edge',
    (id) => edgeSpec({ id }),
    'ClusterAccount',
  ),
  resource('an edge of another namespace by name', 'Edge', () => edgeSpec(FROM_ELSEWHERE), 'Account'),
  resource(
    'an edge of another namespace by name, through a ClusterAccount',
    'Edge',
    () => edgeSpec(FROM_ELSEWHERE),
    'ClusterAccount',
  ),
  resource('a restriction by name', 'IPRestriction', () => restrictionSpec(POLICY)),
  resource('a restriction by id', 'IPRestriction', (id) => restrictionSpec({ id })),
  byHand('an edge made by hand', '/edges/tcp', (id) => ({ ip_restriction: { enabled: true, ip_policy_ids: [id] } })),
  byHand('a restriction made by hand', '/ip_restrictions', (id) => ({
    type: 'agent',
    enforced: true,
    ip_policy_ids: [id],
  })),
]

/** Those that name the policy by its id; they can exist side by side. */
export const usersById: readonly User[] = users.filter(({ title }) => {
  return !title.endsWith('by name') && !title.endsWith('through a ClusterAccount')
})

function resource(
  title: string,
  kind: string,
  specFor: (policyId: string) => Fields,
  elsewhere?: 'Account' | 'ClusterAccount',
): User {
  const namespace = elsewhere === undefined ? NAMESPACE : ELSEWHERE
  const key = { namespace, name: 'user' }
  return {
    title,
    kind,
    isManaged: true,
    isElsewhere: elsewhere !== undefined,
    prepare: (world) => {
      if (elsewhere !== undefined) settleElsewhere(world, elsewhere)
    },
    make: async (world, policyId) => {
      world.server.create(world.typeOf(kind), key, { spec: specFor(policyId) })
    },
    made: () => undefined,
    find: (world) => world.get(kind, key.name, namespace),
    remove: async (world) => {
      if (world.get(kind, key.name, namespace) !== undefined) world.kube.delete(world.typeOf(kind), key)
    },
  }
}

/**
 * Gives the other namespace the account, as an Account of its own or a ClusterAccount, unless everybody shares it
 * anyway.
 */
function settleElsewhere(world: SimulatedWorld, kind: 'Account' | 'ClusterAccount'): void {
  world.makeNamespace(ELSEWHERE)
  if (world.isShared) return
  // Of two Accounts with one key, each waits only for the hold that it received itself.
  world.api.emulator.admin.seed({ apiKeys: [{ token: NEIGHBOURS_KEY }] })
  const data = { apiKey: Buffer.from(NEIGHBOURS_KEY).toString('base64') }
  const spec = { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'key' }, resyncInterval: '60s' }
  const isShared = kind === 'ClusterAccount'
  const namespace = isShared ? 'culvert-system' : ELSEWHERE
  world.server.create(SECRETS, { namespace, name: 'key' }, { data, type: 'Opaque' })
  world.server.create(world.kinds.accountType(kind), isShared ? { name: 'default' } : { namespace, name: 'default' }, {
    spec: { ...spec, ...(isShared && { access: openAccess('Reference') }) },
  })
}

const SECRETS = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true } as const

function byHand(title: string, path: string, bodyFor: (policyId: string) => Fields): User {
  const made = new WeakMap<SimulatedWorld, string>()
  return {
    title,
    kind: path,
    isManaged: false,
    isElsewhere: false,
    prepare: () => undefined,
    make: async (world, policyId) => {
      const { id } = await world.api.ask('POST', path, bodyFor(policyId))
      made.set(world, String(id))
    },
    made: (world) => made.get(world),
    find: () => undefined,
    remove: async (world) => {
      const id = made.get(world)
      made.delete(world)
      if (id !== undefined) await world.api.ask('DELETE', `${path}/${id}`)
    },
  }
}
