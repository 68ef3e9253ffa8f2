import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { memberKinds } from '../../builders/access.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, core, type Resource, World } from '../../cluster/support/world.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { nightlyUnlessVaried, specsOf } from '../../kinds/lookup.ts'
import { CONFIG_MAP, SECRET, SEED } from '../../kinds/shared/account.ts'
import { label, SharedAccount } from '../support/shared-account.ts'
import { Tenant } from '../support/tenant.ts'

/*
 * A user may write every kind in their namespace, by RBAC, and shares an account with others. Kinds that `access` does
 * not name never reach the API, and objects of those it no longer names stay there unchanged.
 */

let cluster: ControlPlane
let world: World
beforeAll(async () => {
  cluster = await startOwnCluster()
  world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', setUp: false })
  world.emulator.admin.seed(SEED)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await cluster.stop()
})

const all = memberKinds.map(({ definition }) => definition.kind)
const managed = memberKinds.filter((descriptor) => descriptor.role === 'managed')

/** A namespace, the account that it shares, and a resource of one kind with its dependencies. */
interface Scene {
  readonly tenant: Tenant
  readonly account: SharedAccount
  readonly subject: Manifest
}

let scenes = 0

/** `kinds`: those that the tenant may create. */
async function scene(kind: string, kinds: readonly string[]): Promise<Scene> {
  const tenant = await Tenant.create(world, kind.toLowerCase().slice(0, 12))
  await label(world, tenant.namespace, { team: 'mine' })
  await tenant.secret(SECRET.name, SECRET.values)
  const { namespace } = tenant
  await world.kube.apply(
    core('configmaps', 'ConfigMap'),
    { namespace, name: CONFIG_MAP.name },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: CONFIG_MAP.name }, data: CONFIG_MAP.values },
  )
  const account = await SharedAccount.create(world, namespace, entries(kinds))
  // Names at the API are unique in the account, such as domains.
  const name = `${kind.toLowerCase()}-${++scenes}`
  const [found] = kind === 'TunnelSessionCommand' ? [] : specsOf(kind)
  const needs = found?.needs(name) ?? []
  for (const need of needs) await tenant.apply(need.kind, need.name, account.in(need))
  for (const need of needs) if (kinds.includes(need.kind)) await tenant.ready(need.kind, need.name)
  const spec = found?.spec(name) ?? { action: 'Stop', target: { type: 'ID', id: 'ts_of_somebody' } }
  return { tenant, account, subject: { kind, name, spec } }
}

function entries(kinds: readonly string[]) {
  // A command names a session that is not shown to anybody.
  return [{ namespaceSelector: { matchLabels: { team: 'mine' } }, kinds, unmanagedObjects: 'Adopt' as const }]
}

async function said(tenant: Tenant, { kind, name }: Manifest, type: string, reason: string): Promise<Resource> {
  return tenant.until(kind, name, `says ${reason}`, (cr) => {
    const condition = conditionOf(cr, type)
    return condition?.reason === reason && condition.observedGeneration === cr.metadata.generation
  })
}

/** Paths of objects of this kind only: a policy's own rules are also objects of IPPolicyRule. */
function pathsOf(kind: string): readonly string[] {
  const descriptor = memberKinds.find(({ definition }) => definition.kind === kind)
  if (descriptor?.role === 'command') return [`/${descriptor.collection.path}`]
  return (descriptor?.role === 'managed' ? descriptor.identity.collections : []).map(({ path }) => `/${path}`)
}

/** Requests for the tenant's objects of the kind, or for any of them. */
function callsFor(kind: string, since: number) {
  const paths = pathsOf(kind)
  return world.journal(since).filter(({ path }) => paths.some((each) => path === each || path.startsWith(`${each}/`)))
}

const managedKinds = managed.map(({ definition }) => definition.kind)
const allBut = (kind: string): readonly string[] => all.filter((other) => other !== kind)

describe('a kind that is not allowed makes no call, and works once it is allowed', () => {
  for (const kind of all)
    test(kind, { tags: nightlyUnlessVaried(kind) }, async () => {
      const others = allBut(kind)
      const isManaged = managedKinds.includes(kind)
      const { tenant, account, subject } = await scene(kind, others)
      const mark = world.mark()
      await tenant.apply(kind, subject.name, account.in(subject))
      const type = isManaged ? 'Synced' : 'Complete'
      const refused = await said(tenant, subject, type, 'KindNotAllowed')
      expect(conditionOf(refused, type)?.message).toContain(
        `ClusterAccount/${account.name} does not allow ${kind} in namespace ${tenant.namespace}`,
      )
      expect(refused.metadata.finalizers ?? []).toEqual([])
      expect(callsFor(kind, mark).filter(({ method }) => method !== 'GET')).toEqual([])
      // The policy that a rule is part of has rules of its own.
      if (kind !== 'IPPolicyRule') expect(callsFor(kind, mark)).toEqual([])

      await account.allow(entries(all))
      if (isManaged) await tenant.ready(kind, subject.name)
      else await said(tenant, subject, 'Failed', 'SomeNotDone')
      expect(callsFor(kind, mark).some(({ method }) => method !== 'GET')).toBe(true)
    })
})

describe('a kind that is no longer allowed is neither changed nor deleted, and can be released', () => {
  for (const kind of managedKinds)
    test(kind, { tags: nightlyUnlessVaried(kind) }, async () => {
      const others = allBut(kind)
      const { tenant, account, subject } = await scene(kind, all)
      const { name } = subject
      await tenant.apply(kind, name, account.in(subject))
      await tenant.ready(kind, name)
      const id = (await tenant.get(kind, name))?.status?.id
      const path = pathOf(kind, subject.spec)
      const before = await world.api.get(`${path}/${id}`)
      await account.allow(entries(others))
      const narrowed = await said(tenant, subject, 'Synced', 'KindNotAllowed')
      expect(conditionOf(narrowed, 'Ready')?.status, 'it is still at work').toBe('True')

      const mark = world.mark()
      const isBot = kind === 'BotUser'
      const edit = isBot ? { displayName: 'edited' } : { description: 'edited' }
      await tenant.apply(kind, name, { ...account.in(subject), ...edit })
      await said(tenant, subject, 'Synced', 'KindNotAllowed')
      await tenant.delete(kind, name)
      const deleting = await said(tenant, subject, 'Ready', 'KindNotAllowed')
      expect(deleting.metadata.deletionTimestamp).toBeDefined()
      expect(conditionOf(deleting, 'Ready')?.message).toMatch(
        /extend|add the kind to an entry of spec\.access.*To end the deletion and leave what is at the API, set spec\.deletionPolicy: Retain/,
      )
      expect(callsFor(kind, mark).filter(({ method }) => method !== 'GET')).toEqual([])

      const key = { namespace: tenant.namespace, name }
      await world.kube.mergePatch(deletedType(kind), key, { spec: { deletionPolicy: 'Retain' } })
      const gone = async () => ((await tenant.get(kind, name)) === undefined ? true : undefined)
      await until(`${kind}/${name} is released`, gone, { describe: () => tenant.get(kind, name) })
      expect(callsFor(kind, mark).filter(({ method }) => method !== 'GET')).toEqual([])
      const after = await world.api.get(`${path}/${id}`)
      expect(after.status).toBe(200)
      expect(after.body).toEqual(before.body)
    })
})

function pathOf(kind: string, spec: Record<string, unknown>): string {
  const descriptor = managed.find(({ definition }) => definition.kind === kind)
  if (descriptor === undefined) throw new Error(`${kind} has no objects`)
  return `/${descriptor.identity.collectionOf(spec as never).path}`
}

function deletedType(kind: string) {
  const descriptor = managed.find(({ definition }) => definition.kind === kind)
  if (descriptor === undefined) throw new Error(`there is no kind ${kind}`)
  const { group, version, plural } = descriptor.definition
  return { group, version, plural, kind, namespaced: true }
}

test('a namespace that no entry selects makes no call of any kind', async () => {
  const { tenant, account } = await scene('IPPolicy', all)
  await account.allow([])
  const mark = world.mark()
  const subjects = managed.map(({ definition: { kind } }) => {
    const name = `none-${kind.toLowerCase()}`
    return { kind, name, spec: specsOf(kind)[0]?.spec(name) ?? {} }
  })
  const command = {
    kind: 'TunnelSessionCommand',
    name: 'none',
    spec: { action: 'Stop', target: { type: 'ID', id: 'ts' } },
  }
  for (const subject of [...subjects, command]) await tenant.apply(subject.kind, subject.name, account.in(subject))
  // A rule whose policy does not exist yet has no account that could refuse it.
  for (const subject of subjects.filter(({ kind }) => kind !== 'IPPolicyRule')) {
    await said(tenant, subject, 'Synced', 'AccountNotAllowed')
  }
  await said(tenant, command, 'Complete', 'AccountNotAllowed')
  expect(world.writes(mark)).toEqual([])
})
