import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import type { AccessEntry, UnmanagedObjects } from '../../../src/managed/descriptor/access.ts'
import { memberKinds } from '../../builders/access.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, type Resource, World } from '../../cluster/support/world.ts'
import { label, SharedAccount } from '../support/shared-account.ts'
import { type Spec, Tenant } from '../support/tenant.ts'

/*
 * Two teams share an account. One takes by a literal host what the other has reserved and does not listen on yet, and
 * asks by forged notes which objects exist: checked by the API's journal, and by the objects afterwards.
 */

let cluster: ControlPlane
let world: World
let victim: Tenant
let mallory: Tenant
let account: SharedAccount
/** Where the victim's address is. */
let address: { readonly host: string; readonly port: number }

const kinds = memberKinds.map(({ definition }) => definition.kind)
const DOMAIN = 'victim.example.com'
const WILDCARD = '*.apps.victim.example.com'

beforeAll(async () => {
  cluster = await startOwnCluster()
  world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', setUp: false })
  victim = await tenant('victim')
  mallory = await tenant('mallory')
  account = await SharedAccount.create(world, `shared-${world.namespace}`, access('Deny'))
  await make('ReservedDomain', 'web', { domain: DOMAIN })
  await make('ReservedDomain', 'apps', { domain: WILDCARD })
  const { status } = await make('ReservedAddress', 'ssh', {})
  const [host = '', port = ''] = String(status?.addr).split(':')
  address = { host, port: Number(port) }
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await cluster.stop()
})

async function tenant(team: string): Promise<Tenant> {
  const made = await Tenant.create(world, team)
  await label(world, made.namespace, { team })
  return made
}

function access(unmanagedObjects: UnmanagedObjects): readonly AccessEntry[] {
  return ['victim', 'mallory'].map((team) => {
    const namespaceSelector = { matchLabels: { team } }
    return { namespaceSelector, kinds, unmanagedObjects: team === 'mallory' ? unmanagedObjects : 'Deny' }
  })
}

function inShared(kind: string, name: string, spec: Spec): Spec {
  return account.in({ kind, name, spec })
}

async function make(kind: string, name: string, spec: Spec): Promise<Resource> {
  await victim.apply(kind, name, inShared(kind, name, spec))
  await victim.ready(kind, name)
  return (await victim.get(kind, name)) as Resource
}

function listening(host: string, port: number, protocol = 'TLS'): Spec {
  return { protocol, hostports: [{ type: 'Host', host, port }] }
}

async function refused(kind: string, name: string): Promise<string> {
  const cr = await mallory.until(kind, name, 'is refused', (each) => {
    return conditionOf(each, 'Synced')?.reason === 'ReferenceNotPermitted'
  })
  expect(conditionOf(cr, 'Stalled')?.status).toBe('True')
  const { message = '' } = conditionOf(cr, 'Synced') ?? {}
  expect(message).not.toContain(victim.namespace)
  return message
}

async function gone(whose: Tenant, kind: string, name: string): Promise<void> {
  await whose.delete(kind, name)
  const look = async () => ((await whose.get(kind, name)) === undefined ? true : undefined)
  await until(`${kind}/${name} is gone`, look, { describe: () => whose.get(kind, name) })
}

describe.each(['Deny', 'Adopt'] as const)('where mallory may use unmanaged objects: %s', (level) => {
  const ways = [
    ['the domain', 'TLS', () => ({ host: DOMAIN, port: 443 })],
    ['the domain, at another port', 'TLS', () => ({ host: DOMAIN, port: 8443 })],
    ['a name below the wildcard', 'TLS', () => ({ host: 'shop.apps.victim.example.com', port: 443 })],
    ['the address', 'TCP', () => address],
  ] as const

  test.each(ways)('no edge listens on %s of another by its literal name', async (_what, protocol, where) => {
    await account.allow(access(level))
    const mark = world.mark()
    const { host, port } = where()
    await mallory.apply('Edge', 'taker', inShared('Edge', 'taker', listening(host, port, protocol)))
    expect(await refused('Edge', 'taker')).toContain(`spec.hostports[0].host: ${host}`)
    expect(world.writes(mark)).toEqual([])
    await gone(mallory, 'Edge', 'taker')
  })

  test('no edge listens on them in upper case: the API server refuses it', async () => {
    const spec = inShared('Edge', 'upper', listening(DOMAIN.toUpperCase(), 443))
    await expect(mallory.apply('Edge', 'upper', spec)).rejects.toThrow('host')
  })
})

test('the owner takes the names that another could not, and deletes them in spite of it', async () => {
  await account.allow(access('Deny'))
  await mallory.apply('Edge', 'waiting', inShared('Edge', 'waiting', listening('a.apps.victim.example.com', 443)))
  await refused('Edge', 'waiting')
  await make('Edge', 'own', listening('a.apps.victim.example.com', 443))
  await gone(victim, 'Edge', 'own')
  await gone(victim, 'ReservedDomain', 'apps')
})

test('an edge on an own domain below the wildcard of another does not hold up its deletion', async () => {
  await make('ReservedDomain', 'late', { domain: '*.late.victim.example.com' })
  const own = inShared('ReservedDomain', 'own', { domain: 'a.late.victim.example.com' })
  await mallory.apply('ReservedDomain', 'own', own)
  await mallory.ready('ReservedDomain', 'own')
  const hostports = [{ type: 'ReservedDomain', reservedDomainRef: { name: 'own' }, port: 443 }]
  await mallory.apply('Edge', 'below', inShared('Edge', 'below', { protocol: 'TLS', hostports }))
  await mallory.ready('Edge', 'below')
  await gone(victim, 'ReservedDomain', 'late')
})

test('a note that mallory forges in its own name is answered alike, whether the object exists or not', async () => {
  await account.allow(access('Deny'))
  const { body } = await world.api.post('/backends/tunnel_group', { labels: {} })
  const ids = [String(body.id), `${String(body.id)}x`]
  const said: string[] = []
  for (const [index, id] of ids.entries()) {
    const mark = world.mark()
    const name = `forger-${index}`
    const note = `${mallory.namespace}/${name}/00000000-0000-4000-8000-000000000000/${id}/sealed`
    const spec = inShared('Backend', name, { type: 'TunnelGroup', tunnelGroup: {} })
    await mallory.apply('Backend', name, spec, { annotations: { 'internal.culvert.dev/id': note } })
    said.push((await refused('Backend', name)).replaceAll(id, 'it'))
    expect(world.writes(mark)).toEqual([])
  }
  expect(said[0]).toBe(said[1])
})

test('an object without a resource is neither used by its id nor adopted where that is denied', async () => {
  await account.allow(access('Deny'))
  const { body } = await world.api.post('/backends/tunnel_group', { labels: {} })
  const id = String(body.id)
  const mark = world.mark()
  const adopter = { type: 'TunnelGroup', tunnelGroup: {}, managementPolicy: 'Manage', externalID: id }
  await mallory.apply('Edge', 'user', inShared('Edge', 'user', { protocol: 'TCP', backend: { id } }))
  await mallory.apply('Backend', 'adopter', inShared('Backend', 'adopter', adopter))
  expect(await refused('Edge', 'user')).toContain('unmanagedObjects: Reference')
  const { reason, message } = await mallory.refused('Backend', 'adopter')
  expect(`${reason}: ${message}`).toMatch(/^NotAdoptable: .*unmanagedObjects: Adopt/)
  expect(world.writes(mark)).toEqual([])
})
