import { describe, expect, test } from 'vitest'
import { backend } from '../../../../src/kinds/backend.ts'
import { edge } from '../../../../src/kinds/edge.ts'
import { kinds } from '../../../../src/kinds/index.ts'
import { ipPolicyRule } from '../../../../src/kinds/ip-policy-rule.ts'
import type { AccountKey } from '../../../../src/managed/account-resource.ts'
import { fullAccess } from '../../../../src/managed/accounts/access.ts'
import type { CustomResource, ResourceName } from '../../../../src/managed/cr.ts'
import type { ManagedDescriptor } from '../../../../src/managed/descriptor/descriptor.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { namedTargets } from '../../../../src/managed/references/crossings.ts'
import { resolveReferences } from '../../../../src/managed/references/resolve.ts'
import type { ManagedContext } from '../../../../src/managed/run/context.ts'
import type { MemberSession } from '../../../../src/managed/run/session.ts'
import { cr } from '../../../builders/custom-resource.ts'

const failover = (...names: string[]) => ({
  type: 'Failover',
  failover: { backendRefs: names.map((name) => ({ name })) },
})
const named = (name: string, status: CustomResource['status'], spec?: Readonly<Record<string, unknown>>) =>
  cr({ name, uid: `uid-${name}` }, status, spec)

const account: AccountKey = { kind: 'Account', namespace: 'blog', name: 'default' }

/** Resolves the references of `subject` among `others`. */
async function resolve(
  subject: CustomResource,
  others: readonly CustomResource[],
  descriptor: ManagedDescriptor = backend as unknown as ManagedDescriptor,
) {
  const context = {
    kinds: new KindsRegistry(kinds),
    resources: {
      get: ({ kind, namespace, name }: ResourceName) =>
        [subject, ...others].find(
          (one) => one.kind === kind && one.metadata.namespace === namespace && one.metadata.name === name,
        ),
      referrersOf: () => [],
      accountKeyOf: () => account,
      isHeld: (id: string) => others.some(({ status }) => status?.id === id),
      holderOf: (key: AccountKey, id: string) =>
        key === account ? others.find(({ status }) => status?.id === id) : undefined,
      noterOf: () => undefined,
      childHolderOf: () => undefined,
    },
  } as unknown as ManagedContext
  const session = {
    key: account,
    cache: { get: () => undefined, fetch: async () => undefined },
    access: fullAccess,
  } as unknown as MemberSession
  return await resolveReferences(context, descriptor, subject, session)
}

const reasonOf = async (promise: Promise<unknown>) =>
  await promise.then(
    () => undefined,
    (error: { readonly code: string; readonly message: string }) => `${error.code}: ${error.message}`,
  )

describe('a new reference', () => {
  const subject = cr({}, {}, failover('spare'))

  test('leads to the id of its target, and is noted for the status', async () => {
    const resolved = await resolve(subject, [named('spare', { id: 'b_1' })])
    expect(resolved.get('Backend', { name: 'spare' })).toEqual({ id: 'b_1', object: undefined })
    expect(resolved.applied).toEqual([{ kind: 'Backend', name: 'spare', id: 'b_1' }])
  })

  test.each([
    ['does not exist', []],
    ['is not created yet', [named('spare', {})]],
    ['is being deleted', [cr({ name: 'spare', deletionTimestamp: '2026-01-01T00:00:00Z' }, { id: 'b_1' })]],
  ])('waits for a target that %s, and says so by field and name', async (what, others) => {
    const reason = await reasonOf(resolve(subject, others))
    expect(reason).toContain('ReferenceNotReady: spec.failover.backendRefs[0]: Backend/spare')
    expect(reason).toContain(what)
  })

  const unready = { conditions: [{ type: 'Ready', status: 'False', reason: 'Rejected', message: '' }] }

  test.each([
    ['silent while neither has a condition', {}, {}, true],
    ['reported once the target has one', {}, unready, false],
    ['reported if the resource has one', unready, {}, false],
  ] as const)('to a target that is not created yet is %s', async (_what, status, targetStatus, silent) => {
    const waiting = resolve(cr({}, status as CustomResource['status'], failover('spare')), [
      named('spare', targetStatus as CustomResource['status']),
    ])
    await expect(waiting).rejects.toMatchObject({ code: 'ReferenceNotReady', silent })
  })

  test('by id needs no resource', async () => {
    const byId = cr({}, {}, { type: 'Failover', failover: { backendRefs: [{ id: 'b_7' }] } })
    const resolved = await resolve(byId, [])
    expect(resolved.get('Backend', { id: 'b_7' }).id).toBe('b_7')
    expect(resolved.applied).toEqual([{ kind: 'Backend', id: 'b_7' }])
  })

  test('to a policy waits until every rule of its present spec is in place', async () => {
    const front = {
      ...cr({}, {}, { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }),
      kind: 'Edge',
    }
    const policy = (observedGeneration: number): CustomResource => ({
      ...cr(
        { name: 'office', generation: 2 },
        {
          id: 'ipp_1',
          ruleCount: 1,
          conditions: ['Ready', 'Synced'].map((type) => ({
            type,
            status: 'True' as const,
            reason: 'x',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
            observedGeneration,
          })),
        },
        { rules: [] },
      ),
      kind: 'IPPolicy',
    })
    const descriptor = edge as unknown as ManagedDescriptor
    expect(await reasonOf(resolve(front, [policy(1)], descriptor))).toContain('does not have every declared rule')
    expect((await resolve(front, [policy(2)], descriptor)).get('IPPolicy', { name: 'office' }).id).toBe('ipp_1')
  })
})

describe('a reference that was applied before', () => {
  const applied = { internal: { references: [{ kind: 'Backend', name: 'spare', id: 'b_1' }] } }
  const subject = cr({}, applied, failover('spare'))

  test.each([
    ['is gone', []],
    ['is being deleted', [cr({ name: 'spare', deletionTimestamp: '2026-01-01T00:00:00Z' }, { id: 'b_1' })]],
    ['is being made again', [named('spare', {})]],
  ])('keeps its id while its target %s', async (_what, others) => {
    const resolved = await resolve(subject, others)
    expect(resolved.get('Backend', { name: 'spare' }).id).toBe('b_1')
    expect(resolved.applied).toEqual(applied.internal.references)
  })

  test('follows its target to another object once that may be used', async () => {
    const resolved = await resolve(subject, [named('spare', { id: 'b_2' })])
    expect(resolved.get('Backend', { name: 'spare' }).id).toBe('b_2')
  })

  test('next to a new one does not make that one wait less', async () => {
    const both = cr({}, applied, failover('spare', 'other'))
    expect(await reasonOf(resolve(both, []))).toContain('Backend/other does not exist')
  })
})

describe('a cycle', () => {
  test.each([
    ['of one', failover('web'), []],
    ['of two', failover('a'), [named('a', { id: 'b_1' }, failover('web'))]],
    [
      'of three behind another',
      failover('x', 'a'),
      [named('x', { id: 'b_0' }), named('a', { id: 'b_1' }, failover('b')), named('b', { id: 'b_2' }, failover('web'))],
    ],
  ])('%s is refused with its whole way', async (_what, spec, others) => {
    const reason = await reasonOf(resolve(cr({}, {}, spec), others))
    expect(reason).toMatch(/^ReferenceCycle: .*\(Backend\/web → (Backend\/[abx] → )*Backend\/web\)/)
  })

  test('elsewhere does not concern a resource that only leads there', async () => {
    const others = [named('a', { id: 'b_1' }, failover('b')), named('b', { id: 'b_2' }, failover('a'))]
    const resolved = await resolve(cr({}, {}, failover('a')), others)
    expect(resolved.get('Backend', { name: 'a' }).id).toBe('b_1')
  })

  test('is none where two ways lead to one target', async () => {
    const others = [
      named('a', { id: 'b_1' }, failover('c')),
      named('b', { id: 'b_2' }, failover('c')),
      named('c', { id: 'b_3' }),
    ]
    expect((await resolve(cr({}, {}, failover('a', 'b')), others)).applied).toHaveLength(2)
  })
})

test('targets are named in the namespace of their referrer', () => {
  const subject = cr({ namespace: 'blog' }, {}, failover('a', 'b'))
  expect(namedTargets(backend as unknown as ManagedDescriptor, subject)).toEqual([
    { kind: 'Backend', namespace: 'blog', name: 'a' },
    { kind: 'Backend', namespace: 'blog', name: 'b' },
  ])
})

describe('a part', () => {
  const descriptor = ipPolicyRule as unknown as ManagedDescriptor
  const part = (ref: Readonly<Record<string, string>>, status: CustomResource['status'] = {}): CustomResource => ({
    ...cr({ name: 'partner' }, status, { ipPolicyRef: ref, cidr: '10.0.0.0/8', action: 'Allow' }),
    kind: 'IPPolicyRule',
  })
  const policy = (spec: Readonly<Record<string, unknown>>): CustomResource => ({
    ...cr(
      { name: 'office', uid: 'uid-office' },
      { id: 'ipp_1', internal: { create: { nonce: 'n', attempt: 1 } } },
      spec,
    ),
    kind: 'IPPolicy',
  })
  const open = policy({ rulesSource: 'IPPolicyRules' })
  const closed = policy({ rules: [] })

  test('need not wait until its whole is usable, which may be because of the part', async () => {
    const resolved = await resolve(part({ name: 'office' }), [open], descriptor)
    expect(resolved.get('IPPolicy', { name: 'office' }).id).toBe('ipp_1')
  })

  test('is refused by a whole that takes none, even where it was applied before, or names it by id', async () => {
    const before = { id: 'ipr_1', internal: { references: [{ kind: 'IPPolicy', name: 'office', id: 'ipp_1' }] } }
    for (const subject of [part({ name: 'office' }), part({ name: 'office' }, before), part({ id: 'ipp_1' })]) {
      const reason = await reasonOf(resolve(subject, [closed], descriptor))
      expect(reason).toContain('ReferenceRefused: spec.ipPolicyRef: IPPolicy/office declares its rules inline')
    }
  })

  test('may name a whole that is not managed here', async () => {
    const resolved = await resolve(part({ id: 'ipp_9' }), [closed], descriptor)
    expect(resolved.get('IPPolicy', { id: 'ipp_9' }).id).toBe('ipp_9')
  })
})

describe('a reference by id', () => {
  const descriptor = edge as unknown as ManagedDescriptor
  const front = (status: CustomResource['status'] = {}): CustomResource => ({
    ...cr({}, status, { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ id: 'ipp_1' }] } }),
    kind: 'Edge',
  })
  const policy = (metadata: Readonly<Record<string, string>>): CustomResource => ({
    ...cr(
      { name: 'office', uid: 'uid-office', ...metadata },
      { id: 'ipp_1', internal: { create: { nonce: 'n', attempt: 1 } } },
      {},
    ),
    kind: 'IPPolicy',
  })
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }

  test('to an object that a resource manages waits as one by name does', async () => {
    expect(await reasonOf(resolve(front(), [policy({})], descriptor))).toContain('does not have every declared rule')
    expect(await reasonOf(resolve(front(), [policy(going)], descriptor))).toContain('IPPolicy/ipp_1 is being deleted')
  })

  test('leads to nothing of another namespace, not even where it was applied before', async () => {
    const applied = { id: 'edg_1', internal: { references: [{ kind: 'IPPolicy', id: 'ipp_1' }] } }
    for (const status of [{}, applied]) {
      const reason = await reasonOf(resolve(front(status), [policy({ namespace: 'blog' })], descriptor))
      expect(reason).toContain('ReferenceNotPermitted: spec.ipRestriction.ipPolicyRefs[0].id: ipp_1 is managed by')
      expect(reason).not.toMatch(/office|rule|blog/)
    }
  })

  test('that was applied before is kept, by the status or by what the account shows', async () => {
    const applied = { internal: { references: [{ kind: 'IPPolicy', id: 'ipp_1' }] } }
    const resolved = await resolve(front(applied), [policy(going)], descriptor)
    expect(resolved.get('IPPolicy', { id: 'ipp_1' }).id).toBe('ipp_1')
    expect(() => resolved.recheck()).not.toThrow()
  })
})

test('references are resolved once more before they are sent: what is being deleted by now is not referred to', async () => {
  const web = named('web', { id: 'b_1' })
  const subject = cr({ name: 'spare', uid: 'uid-spare' }, {}, failover('web'))
  const resolved = await resolve(subject, [web])
  resolved.recheck()
  Object.assign(web, { status: { id: 'b_2' } })
  expect(() => resolved.recheck()).toThrow('has another object now')
  Object.assign(web, {
    status: { id: 'b_1' },
    metadata: { ...web.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  })
  expect(() => resolved.recheck()).toThrow('is being deleted')
})

test('one target under its name and its id is refused with both paths where it may be named once', async () => {
  const spec = { type: 'Failover', failover: { backendRefs: [{ name: 'web' }, { id: 'b_1' }] } }
  const web = named('web', { id: 'b_1', internal: { create: { nonce: 'n', attempt: 1 } } })
  expect(await reasonOf(resolve(cr({ name: 'order' }, {}, spec), [web]))).toBe(
    'InvalidSpec: spec.failover.backendRefs[0] and spec.failover.backendRefs[1] refer to the same Backend (b_1): remove one of them',
  )
})
