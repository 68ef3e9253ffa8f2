import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readManifests } from '../../src/cli/demo/demo-manifests.ts'
import type { Manifest } from '../../src/cli/manifests.ts'
import { tokenOf } from './support/tokens.ts'
import { World } from './support/world.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'examples')
/** In the office, from which alone the examples let agents connect. */
const IP = '198.51.100.7'
/** What decides who may connect, and what traffic goes to; all else may ask for more than a world has. */
const NEEDED: ReadonlySet<string> = new Set([
  'Backend',
  'BotUser',
  'IPPolicy',
  'IPPolicyRule',
  'IPRestriction',
  'SSHCredential',
  'TunnelCredential',
])

type Spec = Record<string, unknown>

/** The resources of a folder of examples that agents have to do with, in the account of the world. */
async function applyExample(
  world: World,
  folder: string,
): Promise<readonly { readonly kind: string; readonly name: string; readonly spec: Spec }[]> {
  const manifests = (await readManifests(join(FOLDER, folder))).filter(isNeeded)
  const applied = manifests.map(({ kind, metadata: { name }, spec }) => {
    const { accountRef: _, ...rest } = spec as Spec
    return { kind, name, spec: rest }
  })
  for (const { kind, name, spec } of applied) await world.apply(kind, name, spec)
  for (const { kind, name } of applied) await world.ready(kind, name, 60_000)
  return applied
}

function isNeeded({ apiVersion, kind }: Manifest): boolean {
  return apiVersion.startsWith('culvert.dev/') && NEEDED.has(kind)
}

describe.each([['quickstart'], ['kinds', 'nightly']])('of the examples in %s', (folder, ...tags) => {
  test('each credential admits an agent, and each TunnelGroup is served by one', { tags }, async () => {
    await using world = await World.open()
    const { admin } = world.emulator
    const applied = await applyExample(world, folder)
    const named = (kind: string) => applied.filter((each) => each.kind === kind)
    const groups = named('Backend').filter(({ spec }) => spec.type === 'TunnelGroup')
    const credentials = named('TunnelCredential')
    expect(groups).not.toEqual([])
    expect(credentials).not.toEqual([])

    for (const { name } of credentials) {
      const token = await tokenOf(world, await world.ready('TunnelCredential', name))
      for (const { spec } of groups) {
        const { labels } = spec.tunnelGroup as { readonly labels: Readonly<Record<string, string>> }
        expect(admin.connectAgent({ token, ip: IP, tunnels: [{ labels }] }), name).toMatchObject({
          state: 'online',
          refusal: null,
        })
      }
    }
    for (const { name, spec } of named('SSHCredential')) {
      const { status } = await world.ready('SSHCredential', name)
      const tunnels = (spec.acl as readonly string[]).map((rule) => ({ domain: rule.replace('bind:', '') }))
      expect(admin.connectAgent({ sshCredential: String(status?.id), ip: IP, tunnels }), name).toMatchObject({
        state: 'online',
      })
    }

    for (const { name } of groups) {
      await world.annotate('Backend', name, { 'culvert.dev/reconcile-requested-at': 'agents' })
      const met = await world.reason('Backend', name, 'TunnelsOnline', 'TunnelsOnline')
      expect(met, name).toMatchObject({ status: 'True' })
      expect((await world.get('Backend', name))?.status).toMatchObject({ tunnelCount: credentials.length })
    }
  })
})
