import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { culvert } from '../support/culvert.ts'
import { World } from '../support/world.ts'

const group = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }

test('events shows Events and the requests of an audit log, oldest first, and names a log that cannot be read', async () => {
  const log = join(tmpdir(), `culvert-audit-${randomUUID()}`)
  onTestFinished(() => rm(log, { force: true }))
  await using world = await World.open({ flags: ['--audit-log', log] })
  await world.apply('Backend', 'web', group)
  await world.apply('Backend', 'other', group)
  await world.ready('Backend', 'other')
  const { status } = await world.ready('Backend', 'web')
  await world.apply('Backend', 'web', { ...group, description: 'ours' })
  await world.until('Backend', 'web', 'is updated', ({ status: now }) => now?.observedGeneration === 2)
  const run = (...args: readonly string[]) => culvert(['events', ...args, '-n', world.namespace], world)

  const shown = await run('backend/web', '--audit-log', log, '-o', 'json')
  expect(shown.code, shown.stderr).toBe(0)
  const events = JSON.parse(shown.stdout) as readonly { reason: string; note: string; request?: { method: string } }[]
  const told = events.map(({ reason, note, request }) => `${reason} ${request === undefined ? '' : note}`.trim())
  expect(told.filter((each) => each.startsWith('spec'))).toEqual([
    expect.stringMatching(`^spec POST backends/tunnel_group/${status?.id} done \\(201\\): `),
    expect.stringMatching(`^spec PATCH backends/tunnel_group/${status?.id} done \\(200\\): description`),
  ])
  expect(told.indexOf('Created')).toBeGreaterThan(told.findIndex((each) => each.startsWith('spec POST')))
  const all = await run('--audit-log', log)
  expect(all.stdout).toMatch(/spec +Backend\/other +POST/)

  const unreadable = await run('--audit-log', '/no/such/file')
  expect(unreadable.code).toBe(1)
  expect(unreadable.stderr).toContain('--audit-log /no/such/file: ENOENT')
})
