import { describe, expect, test } from 'vitest'
import { eventsOf, idsIn } from '../../simulation/scenario.ts'
import { Tenants } from './tenants.ts'

/*
 * Where a namespace of a shared account may not use what no resource holds, it does not learn either which such objects
 * exist: not by a note that it forges in its own name, not by metadata that it guesses.
 */

const OWN = 'blog/Backend/own'
const PATH = 'backends/tunnel_group'
const tunnels = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'web' } } }

/** A note of which everything is right but the UID and the seal. */
function forged(id: string) {
  return { 'internal.culvert.dev/id': `blog/own/00000000-0000-4000-8000-000000000000/${id}/sealed` }
}

async function toldOf(shared: Tenants, id: string): Promise<string> {
  const from = shared.reads.length
  shared.apply(OWN, tunnels, forged(id))
  const said = await shared.says(OWN, 'Synced', 'ReferenceNotPermitted')
  await shared.world.advance(1_300_000)
  expect(shared.reads.slice(from).filter((path) => path.includes(id))).toEqual([])
  expect(shared.writes.filter((write) => write.startsWith(`api POST /${PATH}`))).toEqual([])
  return said.replaceAll(id, 'it')
}

describe.each(['Deny', 'Reference'] as const)('with unmanaged objects: %s', (unmanagedObjects) => {
  test('a forged note tells nothing of an object, and makes no request about it', async () => {
    const shared = await Tenants.begin({ unmanagedObjects })
    const { id } = await shared.make(PATH, { labels: {} })
    const told = await toldOf(shared, id)
    const none = await Tenants.begin({ unmanagedObjects })
    expect(await toldOf(none, `${id.slice(0, -6)}999999`)).toBe(told)
  })

  test('a forged note is no obstacle to a deletion', async () => {
    const shared = await Tenants.begin({ unmanagedObjects })
    const { id } = await shared.make(PATH, { labels: {} })
    await toldOf(shared, id)
    shared.delete(OWN)
    await shared.gone(OWN)
    expect(await idsIn(shared.world, PATH)).toEqual([id])
  })

  test('guessed metadata and the mark of another cluster tell nothing', async () => {
    const shared = await Tenants.begin({ unmanagedObjects })
    await shared.make(PATH, { labels: {}, metadata: 'guessed' })
    const marker = { installation: 'elsewhere', kind: 'Backend', namespace: 'blog', name: 'own', uid: 'u', nonce: 'n' }
    await shared.make(PATH, { labels: {}, metadata: JSON.stringify({ culvert: marker }) })
    shared.apply(OWN, { ...tunnels, rawMetadata: 'guessed' })
    await shared.ready(OWN)
    expect(eventsOf(shared.world)).not.toContain('Backend/own PossibleDuplicate')
  })
})

describe('with unmanaged objects: Adopt', () => {
  test('a note without a seal names the object that may be the former one', async () => {
    const shared = await Tenants.begin({ unmanagedObjects: 'Adopt' })
    const { id } = await shared.make(PATH, { labels: {} })
    shared.apply(OWN, tunnels, forged(id))
    expect(await shared.says(OWN, 'Synced', 'AlreadyExists')).toContain(id)
  })

  test('objects that look like former ones are reported', async () => {
    const shared = await Tenants.begin({ unmanagedObjects: 'Adopt' })
    await shared.make(PATH, { labels: {}, metadata: 'guessed' })
    shared.apply(OWN, { ...tunnels, rawMetadata: 'guessed' })
    await shared.ready(OWN)
    expect(eventsOf(shared.world)).toContain('Backend/own PossibleDuplicate')
  })
})
