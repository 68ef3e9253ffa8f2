import { describe, expect, test } from 'vitest'
import { prepareEdits } from '../../simulation/account-edits.ts'
import { OTHER_ACCOUNT } from '../../simulation/api-server.ts'
import { objectsIn, until } from '../../simulation/scenario.ts'
import { Tenants } from './tenants.ts'

const POLICIES = 'ip_policies'
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
const rules = { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }
const edgeTo = (ref: Readonly<Record<string, unknown>>) => ({ protocol: 'TCP', hostports: [], backend: ref })
const toBlog = { allowedReferences: [{ namespaces: ['blog'] }] }
const web = { namespace: 'shop', name: 'web' }
const FRONT = 'blog/Edge/front'
const WEB = 'shop/Backend/web'
/** Uses the Account of its namespace. */
const OWN = { accountRef: { kind: 'Account', name: 'default' } }

/** The backend of the edge, at the API. */
async function backendOf({ world }: Tenants): Promise<string> {
  const [edge] = await objectsIn(world, 'edges/tcp')
  return JSON.stringify(edge?.backend)
}

describe('an id', () => {
  test('of another namespace is not used, and the message is the same as for one that does not exist', async () => {
    const shared = await Tenants.begin()
    shared.apply(WEB, tunnels)
    const id = await shared.ready(WEB)
    const from = shared.reads.length
    shared.apply(FRONT, edgeTo({ id }))
    shared.apply('blog/Edge/none', edgeTo({ id: 'bkdtg_none' }))
    const said = await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    expect(said).toContain(`spec.backend.id: ${id} belongs to no resource in namespace blog`)
    expect(said.replace(id, 'it')).toBe(
      (await shared.says('blog/Edge/none', 'Synced', 'ReferenceNotPermitted')).replace('bkdtg_none', 'it'),
    )
    expect(shared.condition(FRONT, 'Stalled')?.status).toBe('True')
    expect(shared.writes.filter((write) => write.startsWith('api POST /edges'))).toEqual([])
    expect(shared.reads.slice(from).filter((path) => path.includes(id))).toEqual([])
  })

  test.each([
    ['Deny', false],
    ['Reference', true],
    ['Adopt', true],
  ] as const)('of what nobody has is used under %s: %s', async (unmanagedObjects, isUsed) => {
    const shared = await Tenants.begin({ unmanagedObjects })
    const { id } = await shared.make('backends/tunnel_group', { labels: {} })
    shared.apply(FRONT, edgeTo({ id }))
    if (isUsed) await shared.ready(FRONT)
    else await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
  })

  test.each([
    ['Reference', false],
    ['Adopt', true],
  ] as const)('of a policy that nobody has gets a rule under %s: %s', async (unmanagedObjects, isWritten) => {
    const shared = await Tenants.begin({ unmanagedObjects })
    const { id } = await shared.make(POLICIES, {})
    shared.apply('blog/IPPolicyRule/all', { ipPolicyRef: { id }, cidr: '0.0.0.0/0', action: 'Allow' })
    if (isWritten) await shared.ready('blog/IPPolicyRule/all')
    else {
      const said = await shared.says('blog/IPPolicyRule/all', 'Synced', 'ReferenceNotPermitted')
      expect(said).toContain('set unmanagedObjects: Adopt')
      expect(shared.writes).not.toContain('api POST /ip_policy_rules')
    }
  })

  test('of another namespace is not used where what nobody has is, nor adopted nor observed', async () => {
    const shared = await Tenants.begin({ unmanagedObjects: 'Adopt' })
    shared.apply(WEB, tunnels)
    const id = await shared.ready(WEB)
    const from = shared.writes.length
    shared.apply(FRONT, edgeTo({ id }))
    expect(await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')).toContain(
      `${id} is managed by a resource in another`,
    )
    for (const managementPolicy of ['Manage', 'Observe']) {
      const at = `blog/Backend/${managementPolicy.toLowerCase()}`
      shared.apply(at, { ...tunnels, externalID: id, managementPolicy })
      const said = await shared.says(at, 'Synced', 'NotAdoptable')
      expect(said).toContain(`${id} is managed by a resource in another namespace`)
      expect(said).not.toMatch(/shop|web/)
    }
    expect(
      shared.writes.slice(from).filter((write) => /^api (POST|PATCH|DELETE) \/(edges|backends)\/t/.test(write)),
    ).toEqual([])
  })

  test.each(['declared', 'made by hand'])(
    'of a rule of the policy of another namespace, %s, is not observed',
    async (how) => {
      const shared = await Tenants.begin({ unmanagedObjects: 'Adopt' })
      const isDeclared = how === 'declared'
      shared.apply('shop/IPPolicy/office', isDeclared ? rules : { rulesSource: 'IPPolicyRules', allowEmpty: true })
      const policy = await shared.ready('shop/IPPolicy/office')
      if (!isDeclared) {
        await shared.make('ip_policy_rules', { ip_policy_id: policy, cidr: '10.0.0.0/8', action: 'allow' })
        await shared.says('shop/IPPolicy/office', 'Synced', 'Undeclared')
      }
      shared.apply('blog/IPPolicy/own', { rulesSource: 'IPPolicyRules' })
      await shared.ready('blog/IPPolicy/own')
      const [{ id } = { id: '' }] = (shared.get('shop/IPPolicy/office')?.status?.rules ?? []) as { id: string }[]
      shared.apply('blog/IPPolicyRule/spy', {
        ipPolicyRef: { name: 'own' },
        cidr: '192.0.2.0/24',
        action: 'Allow',
        externalID: id,
        managementPolicy: 'Observe',
      })
      const said = await shared.says('blog/IPPolicyRule/spy', 'Synced', 'NotAdoptable')
      expect(said).toContain('is managed by a resource in another namespace')
    },
  )

  test('that may not be used any more blocks a resource that lives, and changes nothing of it', async () => {
    const shared = await Tenants.begin({ unmanagedObjects: 'Reference' })
    const { id } = await shared.make('backends/tunnel_group', { labels: {} })
    shared.apply(FRONT, edgeTo({ id }))
    await shared.ready(FRONT)
    const before = shared.writes.length
    shared.world.editAccount({ access: [{ namespaceSelector: {} }] })
    await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    expect(shared.condition(FRONT, 'Ready')?.status).toBe('True')
    await shared.world.advance(1_300_000)
    expect(shared.writes.slice(before).filter((write) => /^api .* \/(edges|backends)\/t/.test(write))).toEqual([])
  })
})

describe('a reference by namespace and name', () => {
  test('gets the same message without a grant whether the resource exists or not, and is used once granted', async () => {
    const shared = await Tenants.begin()
    shared.apply(WEB, tunnels)
    const id = await shared.ready(WEB)
    shared.apply(FRONT, edgeTo(web))
    shared.apply('blog/Edge/none', edgeTo({ namespace: 'shop', name: 'none' }))
    const said = await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    expect(said).toBe(
      'spec.backend: Backend shop/web does not permit references from namespace blog, or does not exist: ' +
        'have the namespace added to its spec.allowedReferences, or refer to another',
    )
    const ofNone = await shared.says('blog/Edge/none', 'Synced', 'ReferenceNotPermitted')
    expect(ofNone).toBe(said.replace('shop/web', 'shop/none'))
    shared.apply(WEB, toBlog)
    await shared.ready(FRONT)
    expect(await backendOf(shared)).toContain(id)
  })

  test('waits for a resource that grants it and is not there yet at the API', async () => {
    const shared = await Tenants.begin()
    shared.apply(FRONT, edgeTo(web))
    await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    shared.apply(WEB, { ...tunnels, ...toBlog })
    await shared.ready(FRONT)
  })

  test('is granted by labels, which may come later, and go', async () => {
    const shared = await Tenants.begin()
    shared.apply(WEB, { ...tunnels, allowedReferences: [{ namespaceSelector: { matchLabels: { trusted: 'yes' } } }] })
    shared.apply(FRONT, edgeTo(web))
    await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    shared.label('blog', { trusted: 'yes' })
    await shared.ready(FRONT)
    shared.label('blog', { trusted: null })
    await shared.says(FRONT, 'ReferencesGranted', 'GrantWithdrawn')
    await shared.says(WEB, 'ReferencesGranted', 'GrantWithdrawn')
  })

  test('that names its own namespace needs no grant', async () => {
    const shared = await Tenants.begin()
    shared.apply('blog/Backend/web', tunnels)
    shared.apply(FRONT, edgeTo({ namespace: 'blog', name: 'web' }))
    await shared.ready(FRONT)
    expect(shared.get(FRONT)?.status?.internal?.references).toEqual([
      { kind: 'Backend', name: 'web', id: shared.get('blog/Backend/web')?.status?.id },
    ])
  })

  test('leads to nothing of another account, granted or not', async () => {
    const shared = await Tenants.begin()
    prepareEdits(shared.world)
    shared.makeAccount('other', `https://api.example.com/${OTHER_ACCOUNT}`)
    shared.apply(WEB, { ...tunnels, ...toBlog, accountRef: { kind: 'Account', name: 'other' } })
    await shared.ready(WEB)
    shared.apply(FRONT, edgeTo(web))
    expect(await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')).toContain(
      'Backend shop/web has no object in ClusterAccount/default',
    )
    shared.apply('shop/IPPolicy/office', { rulesSource: 'IPPolicyRules', ...toBlog })
    expect(shared.writes.filter((write) => write.startsWith('api POST /edges'))).toEqual([])
  })

  test('decides about the account of a part, unless that is one that only its own namespace has', async () => {
    const shared = await Tenants.begin()
    shared.makeAccount()
    shared.apply('shop/IPPolicy/own', { ...OWN, rulesSource: 'IPPolicyRules', ...toBlog })
    await shared.ready('shop/IPPolicy/own')
    const rule = { ipPolicyRef: { namespace: 'shop', name: 'own' }, cidr: '192.0.2.0/24', action: 'Allow' }
    shared.apply('blog/IPPolicyRule/partner', rule)
    expect(await shared.says('blog/IPPolicyRule/partner', 'Synced', 'ReferenceNotPermitted')).toContain(
      'IPPolicy shop/own is in an Account of its namespace',
    )
  })

  test('is noted with the generation that was granted', async () => {
    const shared = await Tenants.begin()
    shared.apply('shop/IPPolicy/office', { ...rules, ...toBlog })
    await shared.ready('shop/IPPolicy/office')
    shared.apply(FRONT, { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ namespace: 'shop', name: 'office' }] } })
    await shared.ready(FRONT)
    const noted = (generation: number) => [{ kind: 'IPPolicy', namespace: 'shop', name: 'office', generation }]
    expect(shared.get(FRONT)?.status?.internal?.references).toMatchObject(noted(1))
    shared.apply(FRONT, { description: 'edited' })
    await shared.ready(FRONT)
    expect(shared.get(FRONT)?.status?.internal?.references).toMatchObject(noted(2))
  })
})

describe('a grant that is withdrawn', () => {
  async function withdrawn(): Promise<Tenants> {
    const shared = await Tenants.begin()
    shared.apply(WEB, { ...tunnels, ...toBlog })
    shared.apply(FRONT, edgeTo(web))
    await shared.ready(FRONT)
    shared.apply(WEB, { allowedReferences: null })
    return shared
  }

  test('is reported on both sides; what is in use continues until its spec changes, and new references are refused', async () => {
    const shared = await withdrawn()
    expect(await shared.says(FRONT, 'ReferencesGranted', 'GrantWithdrawn')).toContain(
      'spec.backend: Backend shop/web no longer allows references from namespace blog',
    )
    const note = await shared.says(WEB, 'ReferencesGranted', 'GrantWithdrawn')
    expect(note).toContain('1 resource in another namespace still refers to this one')
    expect(note).not.toContain('blog')
    expect(shared.condition(FRONT, 'Ready')?.status).toBe('True')
    expect(shared.condition(FRONT, 'Synced')?.status).toBe('True')

    shared.apply('blog/Edge/late', edgeTo(web))
    await shared.says('blog/Edge/late', 'Synced', 'ReferenceNotPermitted')
    const before = await backendOf(shared)
    shared.apply(FRONT, { description: 'edited' })
    await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    // Even another reconcile does not mistake the refusal for a grant.
    await shared.world.advance(1_300_000)
    await shared.says(FRONT, 'Synced', 'ReferenceNotPermitted')
    expect(await backendOf(shared)).toBe(before)
    expect(shared.condition(FRONT, 'Ready')?.status).toBe('True')
  })

  test('and given again leaves no trace', async () => {
    const shared = await withdrawn()
    await shared.says(FRONT, 'ReferencesGranted', 'GrantWithdrawn')
    await shared.says(WEB, 'ReferencesGranted', 'GrantWithdrawn')
    shared.apply(WEB, toBlog)
    await until(shared.world, 'both report it', () => {
      return [FRONT, WEB].every((at) => shared.condition(at, 'ReferencesGranted') === undefined)
    })
  })

  test('ignores a withdrawn grant once the reference is removed', async () => {
    const shared = await withdrawn()
    await shared.says(WEB, 'ReferencesGranted', 'GrantWithdrawn')
    shared.apply(FRONT, { backend: null })
    await shared.ready(FRONT)
    await until(shared.world, 'it is reported', () => shared.condition(WEB, 'ReferencesGranted') === undefined, 2_000)
  })
})

describe('a deletion', () => {
  test('waits for users of other namespaces by grant and names them; without the grant it says no name, and the log does', async () => {
    const shared = await Tenants.begin()
    shared.apply(WEB, { ...tunnels, ...toBlog })
    shared.apply(FRONT, edgeTo(web))
    await shared.ready(FRONT)
    shared.delete(WEB)
    expect(await shared.says(WEB, 'Ready', 'Deleting')).toContain('in use by Edge blog/front')
    shared.apply(WEB, { allowedReferences: null })
    await until(shared.world, 'it says less', () => {
      return /in use by \S+ of another namespace/.test(shared.condition(WEB, 'Ready')?.message ?? '')
    })
    expect(shared.condition(WEB, 'Ready')?.message).not.toMatch(/blog|front/)
    expect(JSON.stringify(shared.world.operators.map(({ lines }) => lines))).toContain('Edge/blog/front')
    shared.delete(FRONT)
    await shared.gone(WEB)
  })

  test('waits for nobody who was never granted anything, whatever they name', async () => {
    const shared = await Tenants.begin()
    shared.apply(WEB, tunnels)
    const id = await shared.ready(WEB)
    shared.apply('blog/Edge/by-id', { protocol: 'TCP' })
    shared.apply('blog/Edge/by-name', { protocol: 'TCP' })
    await shared.ready('blog/Edge/by-id')
    await shared.ready('blog/Edge/by-name')
    shared.apply('blog/Edge/by-id', { backend: { id } })
    shared.apply('blog/Edge/by-name', { backend: web })
    for (const name of ['by-id', 'by-name']) await shared.says(`blog/Edge/${name}`, 'Synced', 'ReferenceNotPermitted')
    shared.delete(WEB)
    await shared.gone(WEB)
  })
})

describe('a policy', () => {
  const OFFICE = 'shop/IPPolicy/office'
  const open = { rulesSource: 'IPPolicyRules' }
  const rule = (ref: Readonly<Record<string, unknown>>) => ({ ipPolicyRef: ref, cidr: '192.0.2.0/24', action: 'Allow' })

  test('takes rules of a namespace that it grants references, and lives on without those that it does not', async () => {
    const shared = await Tenants.begin()
    shared.apply(OFFICE, { ...open, ...toBlog, allowEmpty: true })
    const id = await shared.ready(OFFICE)
    shared.apply('blog/IPPolicyRule/partner', rule({ namespace: 'shop', name: 'office' }))
    await shared.ready('blog/IPPolicyRule/partner')
    await shared.ready(OFFICE)
    expect(shared.get('blog/IPPolicyRule/partner')?.status?.accountRef).toEqual({
      kind: 'ClusterAccount',
      name: 'default',
    })
    expect(JSON.stringify(await objectsIn(shared.world, 'ip_policy_rules'))).toContain(id)
  })

  test('refuses rules without a grant, by id and by name, and does not wait for them', async () => {
    const shared = await Tenants.begin({ unmanagedObjects: 'Adopt' })
    shared.apply(OFFICE, open)
    const id = await shared.ready(OFFICE)
    shared.apply('shop/IPPolicyRule/own', { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8', action: 'Allow' })
    await shared.ready('shop/IPPolicyRule/own')
    shared.apply('blog/IPPolicyRule/by-id', { ...rule({ id }), cidr: '0.0.0.0/0' })
    shared.apply('blog/IPPolicyRule/by-name', { ...rule({ namespace: 'shop', name: 'office' }), cidr: '0.0.0.0/0' })
    await shared.says('blog/IPPolicyRule/by-id', 'Synced', 'ReferenceNotPermitted')
    await shared.says('blog/IPPolicyRule/by-name', 'Synced', 'ReferenceNotPermitted')
    shared.apply('shop/Edge/front', { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } })
    await shared.ready('shop/Edge/front')
    expect(JSON.stringify(await objectsIn(shared.world, 'ip_policy_rules'))).not.toContain('0.0.0.0/0')
  })

  test('with a rule that nobody declares is not Synced, and nothing is deleted for it', async () => {
    const shared = await Tenants.begin()
    shared.apply(OFFICE, { ...open, allowEmpty: true })
    const id = await shared.ready(OFFICE)
    const { id: rogue } = await shared.make('ip_policy_rules', {
      ip_policy_id: id,
      cidr: '0.0.0.0/0',
      action: 'allow',
    })
    const said = await shared.says(OFFICE, 'Synced', 'Undeclared')
    expect(said).toContain('1 rule is in force without an IPPolicyRule')
    expect(shared.condition(OFFICE, 'Ready')?.status).toBe('True')
    await shared.world.advance(600_000)
    expect(await objectsIn(shared.world, 'ip_policy_rules')).toMatchObject([{ id: rogue }])
    await shared.world.api.ask('DELETE', `/ip_policy_rules/${rogue}`)
    await shared.ready(OFFICE)
  })

  test('of an account of its own namespace is Synced as ever', async () => {
    const shared = await Tenants.begin()
    const own = 'shop/IPPolicy/own'
    shared.makeAccount()
    shared.apply(own, { ...OWN, ...open, allowEmpty: true })
    const id = await shared.ready(own)
    await shared.make('ip_policy_rules', { ip_policy_id: id, cidr: '0.0.0.0/0', action: 'allow' })
    await until(shared.world, 'it is noticed', () => {
      return shared.condition(own, 'Ready')?.message.includes('1 further rule') ?? false
    })
    expect(shared.condition(own, 'Synced')?.status).toBe('True')
  })
})

test('the owner of a range is named in its own namespace, and nowhere else', async () => {
  const shared = await Tenants.begin()
  const rule = (ref: Readonly<Record<string, unknown>>) => ({ ipPolicyRef: ref, cidr: '10.0.0.0/8', action: 'Allow' })
  shared.apply('shop/IPPolicy/open', { rulesSource: 'IPPolicyRules', allowEmpty: true, ...toBlog })
  await shared.ready('shop/IPPolicy/open')
  shared.apply('shop/IPPolicyRule/first', rule({ name: 'open' }))
  await shared.ready('shop/IPPolicyRule/first')

  shared.apply('shop/IPPolicyRule/second', rule({ name: 'open' }))
  const near = await shared.says('shop/IPPolicyRule/second', 'Synced', 'Conflict')
  expect(near).toContain('belongs to IPPolicyRule/first in this namespace')

  shared.apply('blog/IPPolicyRule/third', rule({ namespace: 'shop', name: 'open' }))
  const far = await shared.says('blog/IPPolicyRule/third', 'Synced', 'Conflict')
  expect(far).not.toMatch(/belongs to|first|second/)
})
