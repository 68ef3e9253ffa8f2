import { describe, expect, test } from 'vitest'
import { secretType } from '../../../src/kube/core-types.ts'
import { type CustomResource, statusOf } from '../../../src/managed/cr.ts'
import { ROTATE_REQUESTED_AT } from '../../../src/managed/names.ts'
import type { Fault } from '../simulation/faults.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Laboratory, NAMESPACE, type SimulatedWorld } from '../simulation/world.ts'

/** Plays `act` in a world of the kinds with tokens; `posts` counts what was asked of the API to be created. */
async function inWorld(act: (world: SimulatedWorld, oracle: Oracle, posts: () => number) => Promise<void>) {
  const laboratory = await Laboratory.open()
  const world = laboratory.world({ kinds: new Set(['APIKey', 'TunnelCredential']) })
  try {
    const oracle = await Oracle.watch(world)
    let posts = 0
    const { onDone } = world.network
    world.network.onDone = (sighting, answer) => {
      if (sighting.server === 'api' && sighting.method === 'POST') posts++
      return onDone(sighting, answer)
    }
    await act(world, oracle, () => posts)
  } finally {
    world.down()
  }
}

function condition(cr: CustomResource | undefined, type: string) {
  return cr?.status?.conditions?.find((each) => each.type === type)
}

async function made(world: SimulatedWorld, oracle: Oracle): Promise<string> {
  world.apply('APIKey', 'ci', {})
  expect(await oracle.untilRest()).toEqual([])
  const { output } = statusOf(world.get('APIKey', 'ci') as CustomResource)
  return output?.name ?? ''
}

describe('a token that could not be written is not asked for', () => {
  test('while its Secret is immutable, until it is deleted', async () => {
    await inWorld(async (world, oracle, posts) => {
      const secret = { namespace: NAMESPACE, name: await made(world, oracle) }
      world.server.patch(secretType, secret, { immutable: true })
      world.annotate('APIKey', 'ci', { [ROTATE_REQUESTED_AT]: '2026-01-01T00:00:00Z' })
      await world.advance(120_000)
      expect(posts()).toBe(1)
      const cr = world.get('APIKey', 'ci')
      expect(condition(cr, 'Ready')?.status).toBe('True')
      const told = cr?.status?.conditions?.filter(({ message }) =>
        message.includes(`Secret ${secret.name} is immutable`),
      )
      expect(told).toEqual([expect.objectContaining({ status: 'False', reason: 'RotationFailing' })])
      expect(told?.[0]?.message).toContain('delete it to have it recreated')
      world.deleteSecret(secret.name)
      await world.advance(60_000)
      expect(posts()).toBeGreaterThan(1)
      expect(
        world.get('APIKey', 'ci')?.status?.conditions?.filter(({ reason }) => reason === 'RotationFailing'),
      ).toEqual([])
    })
  })

  test('while an admission policy refuses a change of its data', async () => {
    await inWorld(async (world, oracle, posts) => {
      await made(world, oracle)
      const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', code: 403, message: 'Secrets are sealed' })
      const refusal: Fault = { type: 'answer', when: 'before', answer: { status: 403, headers: {}, body } }
      const isOfData = (text: string) => (JSON.parse(text || '{}') as { data?: object }).data !== undefined
      world.trouble = {
        request: ({ method, path, body: sent }) => {
          return method === 'PATCH' && path.includes('/secrets/') && isOfData(sent) ? refusal : undefined
        },
      }
      world.annotate('APIKey', 'ci', { [ROTATE_REQUESTED_AT]: '2026-01-01T00:00:00Z' })
      await world.advance(60_000)
      expect(posts()).toBe(1)
      const told = world
        .get('APIKey', 'ci')
        ?.status?.conditions?.filter(({ message }) => message.includes('cannot be written'))
      expect(told?.map(({ status }) => status)).toContain('False')
      world.calm()
      await world.advance(120_000)
      expect(posts()).toBe(2)
    })
  })

  test('where another kind of the same name has the Secret', async () => {
    await inWorld(async (world, oracle, posts) => {
      world.apply('APIKey', 'ci', {})
      world.apply('TunnelCredential', 'ci', {})
      await oracle.untilRest()
      expect(posts()).toBe(1)
      const [key, credential] = ['APIKey', 'TunnelCredential'].map((kind) => world.get(kind, 'ci'))
      const [owner, other] = condition(key, 'Ready')?.status === 'True' ? [key, credential] : [credential, key]
      expect(condition(owner, 'Ready')?.status).toBe('True')
      expect(condition(other, 'Ready')).toMatchObject({ status: 'False', reason: 'OutputNotOwned' })
      expect(condition(other, 'Ready')?.message).toContain(`belongs to ${owner?.kind}/ci`)
    })
  })
})
