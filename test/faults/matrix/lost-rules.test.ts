import { expect, test } from 'vitest'
import { statusOf } from '../../../src/managed/cr.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { befalls } from '../simulation/writes.ts'

const WANTED = { cidr: '192.0.2.0/24', action: 'Allow' }
const LOST = { cidr: '198.51.100.0/24', action: 'Allow' }

test('a rule whose create got no answer is deleted before the policy is Synced with a spec without it', async () => {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['IPPolicy']) })
  try {
    const oracle = await Oracle.watch(world)
    world.apply('IPPolicy', 'office', { rules: [WANTED] })
    expect(await oracle.untilRest()).toEqual([])
    world.trouble = befalls([{ at: 0, fault: { type: 'silence', when: 'after' } }])
    world.apply('IPPolicy', 'office', { rules: [WANTED, LOST] })
    await world.until(() => rangesAt(world).includes(LOST.cidr), 10_000)
    expect(rangesAt(world)).toContain(LOST.cidr)
    world.apply('IPPolicy', 'office', { rules: [WANTED], description: 'edited' })
    expect(await oracle.untilRest()).toEqual([])
    expect(rangesAt(world)).toEqual([WANTED.cidr])
    const cr = world.get('IPPolicy', 'office')
    expect(cr && statusOf(cr)).toMatchObject({ ruleCount: 1 })
    expect(await oracle.judge()).toEqual([])
  } finally {
    world.down()
  }
})

/** The addresses that rules at the API allow. */
function rangesAt({ api }: SimulatedWorld): readonly unknown[] {
  const { accounts } = api.emulator.admin.snapshot()
  return Object.values(accounts).flatMap(({ objects }) => (objects.ip_policy_rules ?? []).map(({ cidr }) => cidr))
}
