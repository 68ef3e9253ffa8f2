import { expect, test } from 'vitest'
import { KubeError } from '../../../src/kube/kube-error.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { openAccess } from '../../builders/access.ts'
import { AuditLog } from '../../cluster/support/audit-log.ts'
import { casesTitled, managed } from '../../cluster/support/cases.ts'
import { until } from '../../cluster/support/wait.ts'
import { core, type Resource, typeOf, World } from '../../cluster/support/world.ts'
import { type Spec, Tenant } from '../support/tenant.ts'

const audit = AuditLog.ofSuite()
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

/**
 * `spec` with `text` as every name of another object; fields that take an id are omitted where a name is accepted as
 * well.
 */
function naming(value: unknown, text: string, node: SchemaNode | undefined, field = ''): unknown {
  if (Array.isArray(value)) {
    return /Refs$/.test(field) ? [{ name: text }] : value.map((each) => naming(each, text, node?.items))
  }
  if (typeof value !== 'object' || value === null) return value
  if (/^(secret|configMap)$/.test(field)) return { ...value, name: text }
  if (/Ref$/.test(field)) {
    if (node?.properties?.name === undefined) return value
    const { id: _id, ...rest } = value as Spec
    return { ...rest, name: text }
  }
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, member]) => [name, naming(member, text, node?.properties?.[name], name)]),
  )
}

function specOf(kind: string): SchemaNode {
  const definition = managed.find((each) => each.definition.kind === kind)?.definition
  if (definition === undefined) throw new Error(`${kind} is no kind`)
  return toStructural(definition.spec, 'spec')
}

/** Applies the resource, or returns why the apiserver rejects it. */
async function attempt(tenant: Tenant, kind: string, name: string, spec: Spec, metadata: Spec = {}): Promise<string> {
  try {
    await tenant.apply(kind, name, spec, metadata)
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'Invalid') throw error
    return `refused at once: ${error.message}`
  }
  const { reason } = await tenant.refused(kind, name, 60_000)
  return reason
}

const NOTHING_FOUND = ['AccountNotReady', 'ReferenceNotReady', 'SecretMissing', 'ConfigMapMissing', 'InvalidSpec']

test('names that climb out of the namespace lead nowhere, in any field', {
  timeout: 400_000,
}, async () => {
  await using world = await World.open({ watch: 'cluster' })
  const victim = await Tenant.create(world, 'victim')
  const mallory = await Tenant.create(world, 'mallory')
  try {
    await victim.secret('credentials', { apiKey: world.emulator.apiKey, token: 'theirs' })
    await mallory.account(world.emulator.url, world.emulator.apiKey)
    await mallory.ready('Account', 'default')
    const mark = await audit.mark()
    const seq = world.mark()
    const texts = [
      `../../${victim.namespace}/secrets/credentials`,
      `${victim.namespace}/credentials`,
      '../configmaps/spec-inputs',
      '..',
      'credentials/status',
      '..%2f..',
    ]
    let refusals = 0
    for (const [index, text] of texts.entries()) {
      await Promise.all(
        casesTitled('full').map(async ({ kind, spec }) => {
          const name = `${kind.toLowerCase()}-${index}`
          const crooked = naming(spec(name), text, specOf(kind)) as Spec
          if (JSON.stringify(crooked) === JSON.stringify(spec(name))) return
          const said = await attempt(mallory, kind, name, crooked)
          expect(
            NOTHING_FOUND.includes(said) || /spec\.output\.(secret|configMap)\.name/.test(said),
            `${kind} ${text}: ${said}`,
          ).toBe(true)
          refusals++
        }),
      )
      const name = `account-${index}`
      await mallory.apply('Account', name, { baseURL: world.emulator.url, apiKeySecretRef: { name: text } })
      expect((await mallory.refused('Account', name)).reason).toBe('SecretMissing')
      expect(await attempt(mallory, 'Backend', `by-account-${index}`, { ...tunnels, accountRef: { name: text } })).toBe(
        'AccountNotReady',
      )
    }
    const seen = (await audit.entries(mark)).filter(({ userAgent }) => userAgent === 'culvert')
    expect(seen.filter(({ namespace, resource }) => namespace === victim.namespace && resource === 'secrets')).toEqual(
      [],
    )
    expect(seen.filter(({ name = '' }) => /[./%]{2}|\//.test(name))).toEqual([])
    expect(world.writes(seq)).toEqual([])
    console.info(`${refusals} resources with names that climb out: none was followed`)
    expect(refusals).toBeGreaterThan(50)
  } finally {
    await end(world, [victim, mallory])
  }
})

/** Stops the operator first, so that a released resource is not adopted again. */
async function end(world: World, tenants: readonly Tenant[]): Promise<void> {
  await world.operator.kill()
  const kinds = ['Account', ...casesTitled('full').map(({ kind }) => kind)]
  for (const tenant of tenants) await tenant.release(kinds)
}

function shared({ namespace }: World): string {
  return `shared-${namespace}`
}

/** A ClusterAccount for every namespace: the closest that two tenants can get. */
async function share(world: World): Promise<void> {
  const name = `key-${shared(world)}`
  const key = { namespace: world.operatorNamespace, name }
  const data = { apiKey: Buffer.from(world.emulator.apiKey).toString('base64') }
  await world.kube.apply(core('secrets', 'Secret'), key, { apiVersion: 'v1', kind: 'Secret', metadata: key, data })
  await world.kube.apply(
    typeOf('ClusterAccount'),
    { name: shared(world) },
    {
      apiVersion: 'culvert.dev/v1alpha1',
      kind: 'ClusterAccount',
      metadata: { name: shared(world) },
      spec: { baseURL: world.emulator.url, apiKeySecretRef: { name }, access: openAccess() },
    },
  )
}

test('tenants of a shared account get no object, token or Secret of another tenant', {
  timeout: 400_000,
}, async () => {
  await using world = await World.open({ watch: 'cluster' })
  await share(world)
  const victim = await Tenant.create(world, 'victim')
  const mallory = await Tenant.create(world, 'mallory')
  const accountRef = { kind: 'ClusterAccount', name: shared(world) }
  try {
    await victim.apply('Backend', 'marked', { ...tunnels, accountRef })
    await victim.apply('Backend', 'own-words', { ...tunnels, accountRef, rawMetadata: 'theirs' })
    await victim.apply('TunnelCredential', 'agent', { accountRef })
    const theirs: Resource[] = []
    for (const [kind, name] of [
      ['Backend', 'marked'],
      ['Backend', 'own-words'],
      ['TunnelCredential', 'agent'],
    ] as const) {
      await victim.ready(kind, name)
      theirs.push((await victim.get(kind, name)) as Resource)
    }
    const ids = theirs.map(({ status }) => status?.id ?? '')
    const before = await Promise.all(['backends/tunnel_group', 'credentials'].map((path) => world.remote(path)))
    const [mark, seq] = [await audit.mark(), world.mark()]
    const [marked, ownWords] = theirs

    // Annotations copied from the victim's resources, and some forged from everything that one can know.
    for (const [index, { metadata }] of [marked, ownWords].filter((cr) => cr !== undefined).entries()) {
      const { annotations = {} } = metadata
      const copied = Object.fromEntries(Object.entries(annotations).filter(([name]) => name.includes('culvert.dev/')))
      await mallory.apply('Backend', `copied-${index}`, { ...tunnels, accountRef }, { annotations: copied })
      const paused = { annotations: { 'culvert.dev/paused': 'true' } }
      const { metadata: own } = await mallory.apply('Backend', `forged-${index}`, { ...tunnels, accountRef }, paused)
      const nonce = /\/(?<nonce>[0-9a-f]{8,64})\//.exec(annotations['internal.culvert.dev/create-attempt'] ?? '')
        ?.groups?.nonce
      await mallory.annotate('Backend', `forged-${index}`, {
        'internal.culvert.dev/id': `${mallory.namespace}/forged-${index}/${own.uid}/${ids[index]}/0123456789abcdef`,
        'internal.culvert.dev/create-attempt': `${own.uid}/1/${nonce ?? '0123456789abcdef'}/ClusterAccount.${shared(world)}`,
        'culvert.dev/paused': null,
      })
      for (const name of [`copied-${index}`, `forged-${index}`]) {
        await mallory.ready('Backend', name)
        expect(ids).not.toContain((await mallory.get('Backend', name))?.status?.id)
      }
    }

    // The object itself, by its id.
    for (const [index, id] of [...ids, '..', '../ip_policies', '.'].entries()) {
      for (const managementPolicy of ['Manage', 'Observe']) {
        const name = `adopting-${index}-${managementPolicy.toLowerCase()}`
        const naming = { externalID: id, managementPolicy }
        expect(await attempt(mallory, 'Backend', name, { ...tunnels, accountRef, ...naming })).toBe('NotAdoptable')
      }
    }

    // A marker that claims that the object is the victim's.
    const { installation } = (
      JSON.parse(String(before[0]?.find(({ id }) => id === ids[0])?.metadata)) as { culvert: { installation: string } }
    ).culvert
    const forged = JSON.stringify({
      culvert: {
        installation,
        kind: 'Backend',
        namespace: victim.namespace,
        name: 'marked',
        uid: marked?.metadata.uid,
        nonce: 'ffffffffffffffff',
      },
    })
    expect(await attempt(mallory, 'Backend', 'mark', { ...tunnels, accountRef, rawMetadata: forged })).toBe(
      'InvalidSpec',
    )
    expect(await attempt(mallory, 'BotUser', 'mark', { accountRef, displayName: forged })).toMatch(
      /refused at once: .*spec\.displayName/,
    )

    // Secrets of others, unowned Secrets and Secrets of one's own other resources, as the destination of a token.
    await mallory.secret('nobodys', { token: 'precious' })
    await mallory.apply('TunnelCredential', 'mine', { accountRef })
    await mallory.ready('TunnelCredential', 'mine')
    const mine = await mallory.getSecret('mine')
    for (const name of ['nobodys', 'mine']) {
      expect(
        await attempt(mallory, 'TunnelCredential', `into-${name}`, { accountRef, output: { secret: { name } } }),
      ).toBe('OutputNotOwned')
    }
    expect((await mallory.getSecret('nobodys'))?.data?.token).toBe(Buffer.from('precious').toString('base64'))
    expect(await mallory.getSecret('mine')).toEqual(mine)

    // The content of the operator's namespace, and what goes with the tenant.
    expect(
      await attempt(mallory, 'TunnelCredential', 'by-path', {
        accountRef,
        output: { secret: { name: `../${world.operatorNamespace}` } },
      }),
    ).toMatch(/spec\.output\.secret\.name/)
    for (const cr of await mallory.list('Backend')) await mallory.delete('Backend', cr.metadata.name)
    const isEmpty = async (): Promise<boolean> => (await mallory.list('Backend')).length === 0
    await until('all of the tenant is gone', isEmpty, { timeoutMs: 120_000 })
    await world.kube.mergePatch(
      typeOf('ClusterAccount'),
      { name: shared(world) },
      {
        metadata: { annotations: { 'culvert.dev/reconcile-requested-at': 'now' } },
      },
    )

    const touched = world.writes(seq).filter(({ path }) => ids.some((id) => path.includes(id)))
    expect(touched).toEqual([])
    for (const [index, path] of ['backends/tunnel_group', 'credentials'].entries()) {
      expect(await world.remote(path)).toEqual(expect.arrayContaining(before[index] as unknown[]))
    }
    const looks = (await audit.entries(mark)).filter(({ userAgent, resource, namespace, name }) => {
      return userAgent === 'culvert' && resource === 'secrets' && namespace === victim.namespace && name !== undefined
    })
    expect(looks).toEqual([])
  } finally {
    await end(world, [victim, mallory])
    await world.kube.mergePatch(typeOf('ClusterAccount'), { name: shared(world) }, { metadata: { finalizers: null } })
    await world.kube.delete(typeOf('ClusterAccount'), { name: shared(world) })
  }
})
