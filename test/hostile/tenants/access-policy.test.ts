import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import type { AccessEntry } from '../../../src/managed/descriptor/access.ts'
import { type LabelSelector, selects } from '../../../src/managed/descriptor/label-selector.ts'
import { memberKinds } from '../../builders/access.ts'
import { type KubeManifest, KubeUser } from '../../cluster/support/kube-user.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, core, type Resource, typeOf, World } from '../../cluster/support/world.ts'
import { specsOf } from '../../kinds/lookup.ts'
import { bindUserRole, installAccessPolicy } from '../support/access-policy.ts'
import { label, SharedAccount } from '../support/shared-account.ts'
import { Tenant } from '../support/tenant.ts'

/*
 * A user with only the role `edit` of a namespace applies resources that `access` of a ClusterAccount does not allow:
 * the API server refuses them. The operator refuses those that the policy does not check.
 */

let cluster: ControlPlane
let world: World
let tenant: Tenant
let account: SharedAccount
let alice: KubeUser

beforeAll(async () => {
  cluster = await startOwnCluster()
  world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', setUp: false })
  tenant = await Tenant.create(world, 'edit')
  await label(world, tenant.namespace, { team: 'mine' })
  account = await SharedAccount.create(world, `shared-${tenant.namespace}`, mine())
  await installAccessPolicy(cluster)
  alice = await userNamed('alice')
  await bindUserRole(cluster, { user: 'alice', namespace: tenant.namespace, role: 'edit' })
  await bindUserRole(cluster, { user: 'root', namespace: tenant.namespace, role: 'admin' })
})
afterAll(async () => {
  for (const user of await Promise.all(users.values())) user[Symbol.dispose]()
  await world[Symbol.asyncDispose]()
  await cluster.stop()
})

function mine(more: Partial<AccessEntry> = {}): readonly AccessEntry[] {
  return [{ namespaceSelector: { matchLabels: { team: 'mine' } }, ...more }]
}

function manifest(kind: string, name: string, spec: object = {}, namespace = tenant.namespace) {
  return { apiVersion: 'culvert.dev/v1alpha1', kind, metadata: { name, namespace }, spec }
}

const POLICY = { rulesSource: 'IPPolicyRules' }
const shared = () => ({ accountRef: { kind: 'ClusterAccount', name: account.name } })

const users = new Map<string, Promise<KubeUser>>()

/** With only what `bindUserRole` gives them. */
function userNamed(name: string): Promise<KubeUser> {
  const known = users.get(name) ?? KubeUser.of(cluster.kubeconfigPath, name)
  users.set(name, known)
  return known
}

/** What the API server says against a user's creating the object, by a dry run: an empty text if nothing. */
async function creating(user: string, object: KubeManifest): Promise<string> {
  return (await userNamed(user)).creating(object)
}

/** The same, once the policy has observed the account's current spec. */
async function answered(user: string, object: KubeManifest, part: string): Promise<void> {
  const look = async () => {
    const answer = await creating(user, object)
    return part === '' ? answer === '' || undefined : answer.includes(part) || undefined
  }
  await until(part === '' ? 'it is taken' : `it is refused: ${part}`, look, { describe: () => creating(user, object) })
}

describe('by the roles alone', () => {
  test.each(memberKinds.map(({ definition, reach }) => [definition.kind, reach] as const))(
    'who may edit writes %s if it reaches no further than the %s',
    async (kind, reach) => {
      const { plural } = typeOf(kind)
      const can = async (user: string): Promise<boolean> => {
        return (await userNamed(user)).can('create', `${plural}.culvert.dev`, tenant.namespace)
      }
      expect(await can('alice')).toBe(reach === 'namespace')
      expect(await can('root')).toBe(true)
    },
  )
})

describe('the policy, for an author who may write every kind', () => {
  test.each(memberKinds.map(({ definition, reach }) => [definition.kind, reach] as const))(
    'refuses %s where its reach is not that of a namespace (%s)',
    async (kind, reach) => {
      const spec = specsOfMember(kind)
      const answer = await creating('root', manifest(kind, 'probe', { ...spec, ...shared() }))
      if (reach === 'namespace') expect(answer).toBe('')
      else
        expect(answer).toContain(
          `ClusterAccount/${account.name} does not allow ${kind} in namespace ${tenant.namespace}`,
        )
    },
  )
})

function specsOfMember(kind: string): Record<string, unknown> {
  if (kind === 'TunnelSessionCommand') return { action: 'Stop', target: { type: 'ID', id: 'ts_1' } }
  // If its policy is named, so is its account.
  if (kind === 'IPPolicyRule') return { ipPolicyRef: { id: 'ipp_1' }, cidr: '10.0.0.0/8', action: 'Allow' }
  return specsOf(kind)[0]?.spec('probe') ?? {}
}

test('a kind that no entry names is refused to an editor, and accepted once one does', async () => {
  const edge = manifest('Edge', 'front', { protocol: 'TCP', ...shared() })
  await account.allow(mine({ kinds: ['IPPolicy'] }))
  await answered('alice', edge, `does not allow Edge in namespace ${tenant.namespace}`)
  expect(await creating('alice', manifest('IPPolicy', 'office', { ...POLICY, ...shared() }))).toBe('')
  await account.allow([...mine({ kinds: ['IPPolicy'] }), ...mine({ kinds: ['Edge'] })])
  await answered('alice', edge, '')
})

test('a namespace that no entry selects is refused every kind', async () => {
  const other = await Tenant.create(world, 'other')
  await bindUserRole(cluster, { user: 'bob', namespace: other.namespace, role: 'edit' })
  const object = manifest('IPPolicy', 'office', { ...POLICY, ...shared() }, other.namespace)
  expect(await creating('bob', object)).toContain(
    `ClusterAccount/${account.name} does not allow namespace ${other.namespace}: have its administrator extend spec.access`,
  )
})

test('own accounts, missing accounts and other ClusterAccounts do not prevent applying', async () => {
  const open = await SharedAccount.create(world, `open-${tenant.namespace}`, mine({ kinds: ['APIKey', 'IPPolicy'] }))
  await answered('root', manifest('APIKey', 'key', open.in({ kind: 'APIKey', name: 'key', spec: {} })), '')
  for (const accountRef of [
    { name: 'own' },
    { kind: 'Account', name: account.name },
    { kind: 'ClusterAccount', name: 'none' },
  ]) {
    expect(await creating('root', manifest('APIKey', 'key', { accountRef }))).toBe('')
  }
})

test('a spec without an account is accepted at apply and refused by the operator', async () => {
  const byDefault = await SharedAccount.create(world, 'default', mine({ kinds: ['IPPolicy'] }))
  expect(await alice.create(manifest('Edge', 'silent', { protocol: 'TCP' }))).toBe('')
  const refused = (cr: Resource) => conditionOf(cr, 'Ready')?.reason === 'KindNotAllowed'
  await tenant.until('Edge', 'silent', 'is refused', refused)
  expect(world.writes().filter(({ path }) => path.startsWith('/edges'))).toEqual([])
  await world.kube.delete(typeOf('ClusterAccount'), { name: byDefault.name })
})

test('resources from before access was narrowed can still be patched by controllers, edited, released and deleted', async () => {
  await account.allow(mine())
  const office = manifest('IPPolicy', 'narrowed', { ...POLICY, ...shared() })
  await answered('alice', office, '')
  expect(await alice.create(office)).toBe('')
  await tenant.ready('IPPolicy', 'narrowed')
  await account.allow(mine({ kinds: ['Edge'] }))
  await answered('alice', manifest('IPPolicy', 'another', { ...POLICY, ...shared() }), 'does not allow IPPolicy')
  const patch = (body: object) => alice.patch(office, body)
  expect(await patch({ metadata: { labels: { by: 'a-controller' } } })).toBe('')
  expect(await patch({ spec: { description: 'edited' } })).toBe('')
  await tenant.until(
    'IPPolicy',
    'narrowed',
    'is refused',
    (cr) => conditionOf(cr, 'Synced')?.reason === 'KindNotAllowed',
  )
  const mark = world.mark()
  expect(await patch({ spec: { deletionPolicy: 'Retain' } })).toBe('')
  expect(await alice.delete(office)).toBe('')
  await until('it is gone', async () => (await tenant.get('IPPolicy', 'narrowed')) === undefined)
  expect(world.writes(mark)).toEqual([])
  await account.allow(mine())
})

const labels = { team: 'mine', stage: 'live' }
const selectors: readonly LabelSelector[] = [
  {},
  { matchLabels: {} },
  { matchLabels: { team: 'mine' } },
  { matchLabels: { team: 'mine', stage: 'live' } },
  { matchLabels: { team: 'mine', stage: 'test' } },
  { matchLabels: { tier: '' } },
  { matchExpressions: [{ key: 'team', operator: 'In', values: ['other', 'mine'] }] },
  { matchExpressions: [{ key: 'team', operator: 'In', values: ['other'] }] },
  { matchExpressions: [{ key: 'tier', operator: 'In', values: [''] }] },
  { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['other'] }] },
  { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['other', 'mine'] }] },
  { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['other'] }] },
  { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
  { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
  { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] },
  { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
  { matchLabels: { team: 'mine' }, matchExpressions: [{ key: 'stage', operator: 'In', values: ['live'] }] },
  { matchLabels: { team: 'mine' }, matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['live'] }] },
]

test('the policy and the operator agree on which namespaces a selector selects', async () => {
  const other = await Tenant.create(world, 'labels')
  await bindUserRole(cluster, { user: 'root-of-all', namespace: other.namespace, role: 'edit' })
  await label(world, other.namespace, labels)
  const found = await world.kube.get(core('namespaces', 'Namespace', false), { name: other.namespace })
  const named = await Promise.all(
    selectors.map((namespaceSelector, index) =>
      SharedAccount.create(world, `by-selector-${index}`, [{ namespaceSelector }]),
    ),
  )
  for (const [index, selector] of selectors.entries()) {
    const spec = named[index]?.in({ kind: 'IPPolicy', name: 'probe', spec: POLICY })
    const part = selects(selector, found?.metadata.labels ?? {}) ? '' : 'does not allow namespace'
    await answered('root-of-all', manifest('IPPolicy', 'probe', spec, other.namespace), part)
  }
})
