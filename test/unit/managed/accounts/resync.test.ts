import { describe, expect, test } from 'vitest'
import type { Change } from '../../../../src/api/account-cache.ts'
import { collections } from '../../../../src/api/collections.ts'
import type { Collection, RemoteObject } from '../../../../src/api/types.ts'
import { kinds } from '../../../../src/kinds/index.ts'
import type { AccountKey } from '../../../../src/managed/account-resource.ts'
import type { AccountContext } from '../../../../src/managed/accounts/account-context.ts'
import { countMissing } from '../../../../src/managed/accounts/check-identity.ts'
import type { AccountRegistry } from '../../../../src/managed/accounts/registry.ts'
import { concerned, holdingsOf, sweep } from '../../../../src/managed/accounts/resync.ts'
import type { LiveSession } from '../../../../src/managed/accounts/session.ts'
import { formatAttempt } from '../../../../src/managed/attempt.ts'
import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import { IdentityMemory } from '../../../../src/managed/identity/identity-memory.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { Memories } from '../../../../src/managed/run/memory.ts'
import { cr, marked } from '../../../builders/custom-resource.ts'

const registry = new KindsRegistry(kinds)
const { tunnelGroupBackends, ipPolicies, ipPolicyRules, tcpEdges } = collections

const key: AccountKey = { kind: 'Account', namespace: 'shop', name: 'default' }

function livesIn(resource: CustomResource, { name }: AccountKey): boolean {
  return (statusOf(resource).accountRef?.name ?? key.name) === name
}

/** The inputs of a resync: resources and listed objects. Everything else is absent. */
function scene(
  resources: readonly CustomResource[],
  listed: Readonly<Record<string, readonly RemoteObject[]>> = {},
  usedBefore: readonly string[] = [],
  closed: readonly Collection[] = [],
  deleted: readonly string[] = [],
) {
  const memories = new Memories()
  const context = {
    kinds: registry,
    memories,
    installation: 'here',
    registry: { allows: (_, { kind }) => kind !== 'Edge' } as Partial<AccountRegistry> as AccountRegistry,
    resources: {
      account: () => undefined,
      membersOf: () => resources,
      keyIssuersOf: () => [],
      record: () => undefined,
      get: ({ kind, namespace, name }) =>
        resources.find(
          (one) => one.kind === kind && one.metadata.namespace === namespace && one.metadata.name === name,
        ),
      livesIn,
      isBeside: (cr) => statusOf(cr).accountRef?.name !== 'elsewhere',
      holderOf: (account, id) => resources.find((one) => livesIn(one, account) && statusOf(one).id === id),
      childHolderOf: (_account, id) =>
        resources.find((one) => registry.managedKind(one.kind)?.children?.idsIn(statusOf(one)).includes(id)),
    },
  } as Partial<AccountContext> as AccountContext
  let changes: readonly Change[] = []
  const session = {
    key,
    cache: {
      all: ({ path }: Collection) => listed[path] ?? [],
      isDeletedSinceList: (_own: Collection, id: string) => deleted.includes(id),
      refusals: () => closed.map((collection) => ({ collection })),
      refusalOf: ({ path }: Collection) => closed.find((one) => one.path === path),
      get: ({ path }: Collection, id: string) => {
        const object = listed[path]?.find((one) => one.id === id)
        return object === undefined ? undefined : { object }
      },
    },
    mayHold: (path: string) => usedBefore.includes(path),
    takeChanges: () => changes,
  } as unknown as LiveSession
  return {
    context,
    session,
    copiesOf: (uid: string) => memories.of(uid).of(IdentityMemory).copies,
    setChanges: (next: readonly Change[]) => {
      changes = next
    },
  }
}

const policy = (status: CustomResource['status'] = {}, name = 'office'): CustomResource => ({
  ...cr({ name, uid: `uid-${name}` }, status, { rules: [] }),
  kind: 'IPPolicy',
})

describe('a sweep over marked objects', () => {
  const swept = async (resource: CustomResource | undefined, ...objects: RemoteObject[]) => {
    const found = scene(resource === undefined ? [] : [resource], { [tunnelGroupBackends.path]: objects })
    const orphans = await sweep(found.context, found.session, [tunnelGroupBackends])
    return { orphans: orphans.map(({ id }) => id), copies: found.copiesOf('mine') }
  }

  test('leaves the one that its resource holds, hands copies to the resource', async () => {
    const held = cr({}, { id: 'b_1' })
    expect(await swept(held, marked('b_1'), marked('b_2'), marked('b_3'))).toEqual({
      orphans: [],
      copies: ['b_2', 'b_3'],
    })
  })

  test('judges nothing while a create is open or no id is known', async () => {
    const attempt = formatAttempt({
      uid: 'mine',
      number: 1,
      nonce: 'abcdef01',
      account: { kind: 'Account', name: 'a' },
    })
    const open = cr({ annotations: { 'internal.culvert.dev/create-attempt': attempt } }, { id: 'b_1' })
    expect(await swept(open, marked('b_2'))).toEqual({ orphans: [], copies: undefined })
    expect(await swept(cr(), marked('b_2'))).toEqual({ orphans: [], copies: undefined })
    expect(await swept(cr(), marked('b_2', { uid: 'former' }))).toEqual({ orphans: [], copies: undefined })
  })

  test('reports what nobody owns: the resource is gone, or a namesake holds another object', async () => {
    expect((await swept(undefined, marked('b_2'), marked('b_1'))).orphans).toEqual(['b_1', 'b_2'])
    expect((await swept(cr({}, { id: 'b_9' }), marked('b_1', { uid: 'former' }))).orphans).toEqual(['b_1'])
  })

  test('reports what a namesake made that etcd lost, for a resource that has had an object and makes it again', async () => {
    const internal = { create: { nonce: 'a', attempt: 1, uid: 'mine' } }
    expect((await swept(cr({}, { internal }), marked('b_1', { uid: 'lost' }))).orphans).toEqual(['b_1'])
    expect((await swept(cr({}, { internal }), marked('b_1'))).orphans).toEqual([])
  })

  test('passes over what its resource holds in another account at the same API, which may be the same account', async () => {
    const beside = { accountRef: { kind: 'Account', name: 'second' } } as const
    expect(await swept(cr({}, { id: 'b_1', ...beside }), marked('b_1'))).toEqual({ orphans: [], copies: undefined })
    expect(await swept(cr({}, beside), marked('b_1'))).toEqual({ orphans: [], copies: undefined })
    const superseded = { internal: { superseded: [{ id: 'b_1' }] } }
    expect((await swept(cr({}, { id: 'b_2', ...superseded, ...beside }), marked('b_1'))).orphans).toEqual([])
    expect((await swept(cr({}, { id: 'b_2', ...beside }), marked('b_1'))).orphans).toEqual(['b_1'])
    expect((await swept(cr({}, { id: 'b_1', ...beside }), marked('b_1', { uid: 'former' }))).orphans).toEqual(['b_1'])
  })

  test('takes no id for that of another API', async () => {
    const elsewhere = { accountRef: { kind: 'Account', name: 'elsewhere' } } as const
    expect((await swept(cr({}, { id: 'b_1', ...elsewhere }), marked('b_1'))).orphans).toEqual(['b_1'])
  })

  test('keeps what it reported in a closed collection, and judges nothing there', async () => {
    const listed = { [tunnelGroupBackends.path]: [marked('b_1'), marked('b_2')] }
    const report = (collection: Collection, id: string) => ({
      collection: collection.path,
      id,
      kind: '',
      namespace: '',
      name: '',
    })
    const before = [report(tunnelGroupBackends, 'b_3'), report(tcpEdges, 'e_1')]
    const found = scene([cr({}, { id: 'b_1' })], listed, [], [tunnelGroupBackends])
    const orphans = await sweep(found.context, found.session, [tunnelGroupBackends, tcpEdges], before)
    expect(orphans.map(({ id }) => id)).toEqual(['b_3'])
    expect(found.copiesOf('mine')).toBeUndefined()
  })

  test('cuts names that no resource can have', async () => {
    const found = scene([], {
      'backends/tunnel_group': [marked('b_1', { namespace: 'n'.repeat(99), name: 'x'.repeat(999) })],
    })
    const [orphan] = await sweep(found.context, found.session, [tunnelGroupBackends])
    expect([orphan?.namespace.length, orphan?.name.length]).toEqual([63, 253])
  })

  test('passes over what is not ours: no marker, another installation, an unknown kind', async () => {
    const others = [{ id: 'b_1' }, marked('b_2', { installation: 'elsewhere' }), marked('b_3', { kind: 'Later' })]
    expect(await swept(undefined, ...others)).toEqual({ orphans: [], copies: undefined })
  })

  test('a child that was listed before its parent was deleted is no orphan', async () => {
    const rule = marked(
      'ipr_1',
      { kind: 'IPPolicy', name: 'office', uid: 'uid-office' },
      { ip_policy: { id: 'ipp_1' } },
    )
    const listed = { [ipPolicyRules.path]: [rule] }
    for (const deleted of [['ipp_1'], []]) {
      const { context, session } = scene([], listed, [], [], deleted)
      const orphans = await sweep(context, session, [ipPolicies, ipPolicyRules])
      expect(orphans.map(({ id }) => id)).toEqual(deleted.length > 0 ? [] : ['ipr_1'])
    }
  })

  test('children of a held parent belong to it; those of nobody are orphans', async () => {
    const rule = (id: string, parent: string) =>
      marked(id, { kind: 'IPPolicy', name: 'office', uid: 'uid-office' }, { ip_policy: { id: parent } })
    const found = scene([policy({ id: 'ipp_1' })], {
      [ipPolicyRules.path]: [rule('ipr_1', 'ipp_1'), rule('ipr_2', 'ipp_2')],
    })
    await sweep(found.context, found.session, [ipPolicyRules])
    expect(found.copiesOf('uid-office')).toBeUndefined()
    const nobody = scene([], { [ipPolicyRules.path]: [rule('ipr_1', 'ipp_1')] })
    const [orphan] = await sweep(nobody.context, nobody.session, [ipPolicyRules])
    expect(orphan?.id).toBe('ipr_1')
  })
})

describe('the collections of a pass', () => {
  const paths = (
    found: ReturnType<typeof scene>,
    members: readonly CustomResource[],
    orphans?: { collection: string }[],
  ) => holdingsOf(found.context, found.session, members, orphans).collections.map(({ path }) => path)

  test('are those in use with those of their children, each once', () => {
    const members = [cr(), cr({ name: 'other' }), policy()]
    expect(paths(scene(members), members)).toEqual([tunnelGroupBackends.path, ipPolicies.path, ipPolicyRules.path])
  })

  test('are not those of a resource that may not use the account, unless it has an object there', () => {
    const edge = (status: CustomResource['status'] = {}) => ({ ...cr({}, status, { protocol: 'TCP' }), kind: 'Edge' })
    expect(paths(scene([edge()]), [edge()])).toEqual([])
    expect(paths(scene([edge()]), [edge({ id: 'edg_1' })])).toEqual([tcpEdges.path])
  })

  test('are those too in which objects of ours may be left, by what was listed, reported or in use before', () => {
    expect(paths(scene([], { [ipPolicies.path]: [marked('ipp_1')] }), [])).toEqual([ipPolicies.path])
    expect(paths(scene([], { [ipPolicies.path]: [{ id: 'ipp_1' }] }), [])).toEqual([])
    expect(paths(scene([]), [], [{ collection: ipPolicies.path }])).toEqual([ipPolicies.path])
    expect(paths(scene([], {}, [ipPolicyRules.path]), [])).toEqual([ipPolicyRules.path])
  })
})

describe('who a pass wakes', () => {
  const office = policy({ id: 'ipp_1', rules: [{ cidr: '10.0.0.0/8', action: 'allow', id: 'ipr_1' }] })
  const web = cr({}, { id: 'b_1' })
  const woken = (...changes: Change[]) => {
    const found = scene([web, office])
    found.setChanges(changes)
    return concerned(found.context, found.session, [web, office]).map(({ kind }) => kind)
  }

  test('the holder of an object that changed or vanished, and nobody for others', () => {
    expect(woken({ type: 'changed', id: 'b_1', object: { id: 'b_1' }, collection: tunnelGroupBackends })).toEqual([
      'Backend',
    ])
    expect(woken({ type: 'vanished', id: 'b_1', collection: tunnelGroupBackends })).toEqual(['Backend'])
    expect(woken({ type: 'appeared', id: 'b_2', object: { id: 'b_2' }, collection: tunnelGroupBackends })).toEqual([])
  })

  test('the parent of a child that appeared, changed or vanished', () => {
    const child = { id: 'ipr_2', ip_policy: { id: 'ipp_1' } }
    expect(woken({ type: 'appeared', id: 'ipr_2', object: child, collection: ipPolicyRules })).toEqual(['IPPolicy'])
    expect(woken({ type: 'vanished', id: 'ipr_1', collection: ipPolicyRules })).toEqual(['IPPolicy'])
    const foreign = { id: 'ipr_3', ip_policy: { id: 'ipp_9' } }
    expect(woken({ type: 'changed', id: 'ipr_3', object: foreign, collection: ipPolicyRules })).toEqual([])
  })

  test('each resource once, and those with copies', () => {
    const change: Change = { type: 'changed', id: 'b_1', object: { id: 'b_1' }, collection: tunnelGroupBackends }
    expect(woken(change, change)).toEqual(['Backend'])
    const found = scene([web])
    found.context.memories.of('mine').of(IdentityMemory).expectCopies(['b_2'])
    expect(concerned(found.context, found.session, [web])).toEqual([web])
  })
})

describe('what the lists show of the objects that resources hold', () => {
  const none = { known: 0, missing: 0 }

  test('missing is what no list shows', () => {
    const found = scene([], { [tunnelGroupBackends.path]: [marked('b_1')] })
    const members = [cr({}, { id: 'b_1' }), cr({}, { id: 'b_2' }), cr()]
    const counts = { staying: { known: 2, missing: 1 }, leaving: none, unknown: 0 }
    expect(countMissing(found.context, found.session, members)).toEqual(counts)
  })

  test('resources that are being deleted are counted apart', () => {
    const found = scene([], { [tunnelGroupBackends.path]: [marked('b_1')] })
    const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    const members = [cr(deleting, { id: 'b_1' }), cr(deleting, { id: 'b_2' }), cr({}, { id: 'b_3' })]
    const counts = { staying: { known: 1, missing: 1 }, leaving: { known: 2, missing: 1 }, unknown: 0 }
    expect(countMissing(found.context, found.session, members)).toEqual(counts)
  })

  test('what a closed collection holds is unknown, not missing', () => {
    const found = scene([], {}, [], [tunnelGroupBackends])
    const counts = { staying: none, leaving: none, unknown: 1 }
    expect(countMissing(found.context, found.session, [cr({}, { id: 'b_1' })])).toEqual(counts)
  })
})
