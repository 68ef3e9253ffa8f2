import { expect, test } from 'vitest'
import { World } from './support/world.ts'

test('a refused create is sent once, and its status writes do not repeat it', async () => {
  await using world = await World.open()
  const body = { error_code: 'ERR_1', status_code: 400, msg: 'the quota is used up', details: {} }
  world.emulator.admin.addFault({
    match: { method: 'POST', path: '/backends/**', every: true },
    act: { type: 'status', status: 400, body },
  })
  const names = Array.from({ length: 12 }, (_, index) => `b${index}`)
  for (const name of names) await world.apply('Backend', name, { type: 'HTTPResponse', httpResponse: { body: name } })
  for (const name of names) await world.reason('Backend', name, 'Stalled', 'Rejected')
  await world.resync()
  expect(world.writes()).toHaveLength(names.length)
})
