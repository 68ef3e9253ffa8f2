import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ClosableApiClient } from '../../../src/api/client.ts'
import { openAccount } from '../../../src/cli/account-client.ts'
import { Snapshot } from '../../../src/cli/cluster/snapshot.ts'
import { checkOrphans, removeOrphan } from '../../../src/cli/orphans/orphans.ts'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../../src/kube/types.ts'
import type { Orphan } from '../../../src/managed/accounts/resync.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'
import { formatMarker } from '../../../src/managed/markers/marker.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { World } from '../../builders/contract/world.ts'

const registry = new KindsRegistry(kinds)

let world: World
let client: ClosableApiClient
/** What the cluster has of the resource that the marker names. */
let resource: Partial<KubeObject> | undefined
let orphan: Orphan
beforeAll(async () => {
  world = new World(await startEmulator())
  client = open(true)
})
beforeEach(async () => {
  resource = undefined
  const { id } = await world.api.create('ip_policies', { metadata: marked('office') })
  orphan = { collection: 'ip_policies', id, kind: 'IPPolicy', namespace: 'shop', name: 'office' }
})
afterAll(async () => {
  await client.close()
  await world.close()
})

function open(mayWrite: boolean): ClosableApiClient {
  const config = {
    baseURL: world.url,
    apiKey: world.apiKey,
    versionHeader: 'Service-Version',
    caBundle: undefined,
    requestsPerMinute: undefined,
    burst: undefined,
  }
  return openAccount(config, { clock: systemClock, proxies: {}, timeoutMs: 10_000, mayWrite })
}

function marked(name: string): string {
  return formatMarker({ installation: 'one', kind: 'IPPolicy', namespace: 'shop', name, uid: 'uid-1', nonce: 'n' })
}

/** With a snapshot that has read nothing yet. */
function place(given = client) {
  const get = async <T extends KubeObject>(_type: ResourceType, { name }: ObjectKey): Promise<T | undefined> =>
    resource === undefined ? undefined : ({ metadata: { name, uid: '' }, ...resource } as T)
  return { kinds: registry, client: given, snapshot: new Snapshot(registry, { get }) }
}

async function exists(): Promise<boolean> {
  return (await client.get({ path: 'ip_policies', listKey: 'ip_policies' }, orphan.id)) !== undefined
}

describe('an orphan', () => {
  test('is shown with what refers to it, and deleted', async () => {
    const restriction = await world.api.create('ip_restrictions', { type: 'agent', ip_policy_ids: [orphan.id] })
    const [checked] = await checkOrphans(place(), [orphan])
    expect(checked).toMatchObject({ type: 'orphan', usedBy: [`ip_restrictions/${restriction.id}`] })
    await world.api.remove(`/ip_restrictions/${restriction.id}`)
    expect(await removeOrphan(place(), orphan)).toEqual({ type: 'deleted' })
    expect(await exists()).toBe(false)
  })

  test.each([
    ['a resource has adopted it', () => ({ metadata: { name: 'office', uid: 'uid-2' }, status: { id: orphan.id } })],
    ['its resource exists again', () => ({ metadata: { name: 'office', uid: 'uid-1' } })],
  ])('is left alone if, after it was shown, %s', async (why, cluster) => {
    expect(await checkOrphans(place(), [orphan])).toMatchObject([{ type: 'orphan' }])
    resource = cluster() as Partial<KubeObject>
    expect(await removeOrphan(place(), orphan)).toEqual({ type: 'settled', why })
    expect(await exists()).toBe(true)
  })

  test('is left alone if it carries another marker now', async () => {
    await world.api.update('ip_policies', orphan.id, { metadata: marked('lab') })
    expect(await removeOrphan(place(), orphan)).toEqual({ type: 'settled', why: 'it has another marker now' })
    expect(await exists()).toBe(true)
  })

  test('that is gone is none', async () => {
    await world.api.remove(`/ip_policies/${orphan.id}`)
    expect(await checkOrphans(place(), [orphan])).toMatchObject([{ type: 'settled', why: 'it is gone' }])
  })

  test('is not deleted by a client that only reads', async () => {
    const reading = open(false)
    await expect(removeOrphan(place(reading), orphan)).rejects.toThrow('this command only reads')
    await reading.close()
    expect(await exists()).toBe(true)
  })
})
