import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTerminal, type TerminalSession } from '../support/terminal.ts'
import { World } from '../support/world.ts'

const PULL_REQUEST = fileURLToPath(new URL('../../fixtures/cli/pull-request.yaml', import.meta.url))

let world: World
beforeAll(async () => {
  world = await World.open({ leaderElect: true })
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow', description: 'VPN' }] })
  await world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  const ipRestriction = { ipPolicyRefs: [{ name: 'office' }] }
  await world.apply('Edge', 'shop', { protocol: 'TLS', backend: { name: 'web' }, ipRestriction })
  await world.apply('Edge', 'beta', { protocol: 'TLS', backend: { name: 'next' } })
  await world.apply('BotUser', 'ci', { managementPolicy: 'Plan', displayName: 'ci' })
  await world.ready('Edge', 'shop')
  await world.reason('Edge', 'beta', 'Synced', 'ReferenceNotReady')
  await world.reason('BotUser', 'ci', 'Synced', 'AwaitingApproval')
})
afterAll(() => world[Symbol.asyncDispose]())

function session(args: readonly string[], columns: number, env: Record<string, string> = {}): Promise<TerminalSession> {
  const { apiKey, url } = world.emulator
  const account = { CULVERT_API_KEY: apiKey, CULVERT_BASE_URL: url }
  return inTerminal(args, { columns, env: { ...account, KUBECONFIG: world.kubeconfig, ...env } })
}

const inPlace = () => ['-n', world.namespace]
const inRelease = () => [...inPlace(), '--operator-namespace', world.operatorNamespace]

/** Each command with something that it has to show; whether it has colours. */
const commands: readonly (readonly [words: string, args: () => string[], shows: string, coloured: boolean])[] = [
  ['why', () => ['why', 'edge/beta', ...inPlace()], 'Backend/next', true],
  ['tree', () => ['tree', ...inPlace()], 'IPPolicy/office', true],
  ['graph', () => ['graph', 'edge/shop', ...inPlace()], 'flowchart', false],
  ['doctor', () => ['doctor', ...inRelease()], 'Edge/beta', true],
  ['plan', () => ['plan', '-f', PULL_REQUEST, ...inPlace()], 'Plan:', true],
  ['export', () => ['export', '--kind', 'IPPolicy', ...inPlace()], 'kind: IPPolicy', false],
  ['reconcile', () => ['reconcile', 'backend/web', ...inPlace(), '--wait'], 'Backend/web', false],
  ['events', () => ['events', ...inPlace()], 'Backend/web', false],
  ['orphans', () => ['orphans', ...inRelease()], 'There are no orphans.', false],
  ['completion', () => ['completion', 'bash'], 'complete', false],
]

describe('in a terminal', () => {
  test.each(commands)(
    'culvert %s keeps within 80 columns, in colours where there are any',
    async (_, args, shows, coloured) => {
      const { raw, lines } = await session(args(), 80)
      expect(lines.join('\n')).toContain(shows)
      expect(raw.includes('\u001b[')).toBe(coloured)
      // Names of programs in texts for programs are as long as they are.
      if (!TEXTS.has(args()[0] ?? '')) expect(lines.filter((line) => line.length > 80)).toEqual([])
    },
  )

  test('NO_COLOR is heeded', async () => {
    const { raw, lines } = await session(['tree', ...inPlace()], 160, { NO_COLOR: '1' })
    expect(lines.join('\n')).toContain('IPPolicy/office')
    expect(raw).not.toContain('\u001b[')
  })

  test('culvert approve asks, and takes no for an answer', async () => {
    const args = ['approve', 'botuser/ci', ...inPlace()]
    const { apiKey, url } = world.emulator
    const env = { CULVERT_API_KEY: apiKey, CULVERT_BASE_URL: url, KUBECONFIG: world.kubeconfig }
    const refused = await inTerminal(args, { columns: 80, env, typing: { after: '[y/N]', keys: 'n\n' } })
    expect(refused.code).toBe(1)
    expect(refused.lines.join('\n')).toContain('Nothing was approved.')
    expect(await world.remote('bot_users')).toEqual([])

    const approved = await inTerminal(args, { columns: 80, env, typing: { after: '[y/N]', keys: 'y\n' } })
    expect(approved.code).toBe(0)
    expect(approved.lines.join('\n')).toContain('approved')
    await world.ready('BotUser', 'ci')
  })
})

const TEXTS: ReadonlySet<string> = new Set(['graph', 'export', 'completion'])
