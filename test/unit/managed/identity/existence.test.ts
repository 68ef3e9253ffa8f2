import { describe, expect, test } from 'vitest'
import { SharedWorld } from '../../../builders/shared-world.ts'

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

async function toldOf(shared: SharedWorld, id: string): Promise<string> {
  const from = shared.world.reads.length
  shared.apply(OWN, tunnels, forged(id))
  const said = await shared.says(OWN, 'Synced', 'ReferenceNotPermitted')
  await shared.world.clock.advance(1_300_000)
  expect(shared.world.reads.slice(from).filter((path) => path.includes(id))).toEqual([])
  expect(shared.world.writes.filter((write) => write.startsWith(`POST ${PATH}`))).toEqual([])
  return said.replaceAll(id, 'it')
}

describe.each(['Deny', 'Reference'] as const)('with unmanaged objects: %s', (unmanagedObjects) => {
  test('a forged note tells nothing of an object, and makes no request about it', async () => {
    const shared = SharedWorld.start({ unmanagedObjects })
    const { id } = shared.world.account.create(PATH, { labels: {} })
    const none = SharedWorld.start({ unmanagedObjects })
    expect(await toldOf(shared, id)).toBe(await toldOf(none, `${PATH.replace('/', '-')}_999999`))
  })

  test('a forged note is no obstacle to a deletion', async () => {
    const shared = SharedWorld.start({ unmanagedObjects })
    const { id } = shared.world.account.create(PATH, { labels: {} })
    await toldOf(shared, id)
    shared.delete(OWN)
    await shared.gone(OWN)
    expect(shared.world.account.get(PATH, id)).toBeDefined()
  })

  test('guessed metadata and the mark of another cluster tell nothing', async () => {
    const shared = SharedWorld.start({ unmanagedObjects })
    shared.world.account.create(PATH, { labels: {}, metadata: 'guessed' })
    const marker = { installation: 'elsewhere', kind: 'Backend', namespace: 'blog', name: 'own', uid: 'u', nonce: 'n' }
    shared.world.account.create(PATH, { labels: {}, metadata: JSON.stringify({ culvert: marker }) })
    shared.apply(OWN, { ...tunnels, rawMetadata: 'guessed' })
    await shared.ready(OWN)
    expect(shared.world.events).not.toContain('Backend/own PossibleDuplicate')
  })
})

describe('with unmanaged objects: Adopt', () => {
  test('a note without a seal names the object that may be the former one', async () => {
    const shared = SharedWorld.start({ unmanagedObjects: 'Adopt' })
    const { id } = shared.world.account.create(PATH, { labels: {} })
    shared.apply(OWN, tunnels, forged(id))
    expect(await shared.says(OWN, 'Synced', 'AlreadyExists')).toContain(id)
  })

  test('objects that look like former ones are reported', async () => {
    const shared = SharedWorld.start({ unmanagedObjects: 'Adopt' })
    shared.world.account.create(PATH, { labels: {}, metadata: 'guessed' })
    shared.apply(OWN, { ...tunnels, rawMetadata: 'guessed' })
    await shared.ready(OWN)
    expect(shared.world.events).toContain('Backend/own PossibleDuplicate')
  })
})
