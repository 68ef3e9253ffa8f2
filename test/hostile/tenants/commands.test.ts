import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import type { AccessEntry } from '../../../src/managed/descriptor/access.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, type Resource, World } from '../../cluster/support/world.ts'
import { label, SharedAccount } from '../support/shared-account.ts'
import { type Spec, Tenant } from '../support/tenant.ts'

/*
 * The sessions of a shared account are shown in the namespace of a user who may write commands there by RBAC. They
 * cannot stop an agent unless `access` names commands.
 */

let cluster: ControlPlane
let world: World
let tenant: Tenant
let account: SharedAccount
let token: string
let agents = 0

beforeAll(async () => {
  cluster = await startOwnCluster()
  world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', setUp: false })
  tenant = await Tenant.create(world, 'watcher')
  await label(world, tenant.namespace, { team: 'mine' })
  const mirrorSessions = { enabled: true, interval: '1s', namespace: tenant.namespace }
  account = await SharedAccount.create(world, `shared-${tenant.namespace}`, mine(), { mirrorSessions })
  token = String((await world.api.post('/credentials', {})).body.token)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await cluster.stop()
})

function mine(kinds: readonly string[] = ['Edge']): readonly AccessEntry[] {
  return [{ namespaceSelector: { matchLabels: { team: 'mine' } }, kinds }]
}

/** An agent of another team, and the TunnelSession that shows it here. */
async function session(): Promise<{ readonly id: string; readonly name: string }> {
  const agent = world.emulator.admin.connectAgent({
    token,
    metadata: `agent ${++agents}`,
    availableVersions: ['3.9.1'],
  })
  const id = String(agent.sessionId)
  const look = async (): Promise<Resource | undefined> =>
    (await tenant.list('TunnelSession')).find(({ status }) => status?.id === id)
  const shown = await until(`session ${id} is shown`, look, { describe: () => tenant.list('TunnelSession') })
  return { id, name: shown.metadata.name }
}

function command(action: string, target: Spec): Spec {
  return account.in({ kind: 'TunnelSessionCommand', name: '', spec: { action, target } })
}

async function said(name: string, type: string, reason: string): Promise<Resource> {
  return tenant.until('TunnelSessionCommand', name, `says ${reason}`, (cr) => conditionOf(cr, type)?.reason === reason)
}

const sent = (mark: number): readonly string[] =>
  world.writes(mark).flatMap(({ path }) => /^\/tunnel_sessions\/[^/]+\/(\w+)$/.exec(path)?.[1] ?? [])

test('a command reaches no session by any name unless an entry allows commands', async () => {
  const { id, name } = await session()
  const mark = world.mark()
  const targets: Readonly<Record<string, Spec>> = {
    id: { type: 'ID', id },
    session: { type: 'Session', sessionRef: { name } },
    selector: { type: 'Selector', selector: {} },
  }
  for (const [how, target] of Object.entries(targets))
    await tenant.apply('TunnelSessionCommand', how, command('Stop', target))
  // The session knows its account: a command need not name it.
  await tenant.apply('TunnelSessionCommand', 'silent', { action: 'Stop', target: targets.session })
  for (const how of [...Object.keys(targets), 'silent']) await said(how, 'Complete', 'KindNotAllowed')
  expect(sent(mark)).toEqual([])

  for (const how of ['id', 'selector', 'silent']) await tenant.delete('TunnelSessionCommand', how)
  await account.allow(mine(['TunnelSessionCommand']))
  await said('session', 'Complete', 'AllDone')
  expect(sent(mark)).toEqual(['stop'])
})

test('a command that is no longer allowed sends none of its remaining requests', async () => {
  await account.allow(mine(['TunnelSessionCommand']))
  const { id } = await session()
  const mark = world.mark()
  await tenant.apply('TunnelSessionCommand', 'midway', command('UpdateAndRestart', { type: 'ID', id }))
  await until('the update is sent', async () => (sent(mark).length > 0 ? true : undefined))
  await account.allow(mine())
  await said('midway', 'Complete', 'KindNotAllowed')
  const began = performance.now()
  await until('the pause is over', async () => (performance.now() - began > 12_000 ? true : undefined))
  expect(sent(mark)).toEqual(['update'])
  await account.allow(mine(['TunnelSessionCommand']))
  await until('the restart is sent', async () => (sent(mark).length > 1 ? true : undefined))
  expect(sent(mark)).toEqual(['update', 'restart'])
})
