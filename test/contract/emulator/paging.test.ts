import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { at, EmulatorClient } from '../../builders/emulator-client.ts'

let emulator: Emulator
let client: EmulatorClient

beforeEach(async () => {
  emulator = await startEmulator()
  client = EmulatorClient.of(emulator)
})

afterEach(() => emulator.close())

/** One page: its ids, and the address of the next page. */
async function page(address: string): Promise<{ ids: string[]; next: string | null; lost: boolean }> {
  const { status, body } = await client.get(address)
  if (status === 400) return { ids: [], next: null, lost: true }
  const objects = body.ip_policies
  const next = body.next_page_uri
  return {
    ids: Array.isArray(objects) ? objects.map((object) => String(at(object, 'id'))) : [],
    next: typeof next === 'string' ? next : null,
    lost: false,
  }
}

interface Change {
  readonly kind: 'create' | 'delete'
  readonly pick: number
}

/** Creates an object, or deletes one that the test does not observe. */
async function apply(change: Change, others: string[]): Promise<void> {
  if (change.kind === 'create' || others.length === 0) {
    others.push(await client.create('/ip_policies'))
    return
  }
  const [gone] = others.splice(change.pick % others.length, 1)
  await client.delete(`/ip_policies/${String(gone)}`)
}

const change = fc.record({ kind: fc.constantFrom('create' as const, 'delete' as const), pick: fc.nat() })

describe('paging', () => {
  it('shows no object twice and misses none that exists throughout, while others come and go', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
        fc.array(change, { maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (initial, changes, limit) => {
          emulator.admin.reset()
          const watched: string[] = []
          const others: string[] = []
          for (const watch of initial) (watch ? watched : others).push(await client.create('/ip_policies'))

          const pending = [...changes]
          let seen: string[] = []
          for (let next: string | null = `/ip_policies?limit=${limit}`; next !== null; ) {
            const current = await page(next)
            seen = current.lost ? [] : [...seen, ...current.ids]
            // A cursor whose object was deleted is refused; the list restarts.
            next = current.lost ? `/ip_policies?limit=${limit}` : current.next
            const now = pending.shift()
            if (now !== undefined) await apply(now, others)
          }
          expect(new Set(seen).size).toBe(seen.length)
          expect(watched.filter((id) => !seen.includes(id))).toEqual([])
          expect(seen.toSorted((left, right) => (left < right ? 1 : -1))).toEqual(seen)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('keeps the limit in the address of the next page, and gives 100 by default', async () => {
    emulator.admin.seed({ bulk: [{ collection: 'ip_policies', count: 250 }] })
    const sizes = []
    for (let next: string | null = '/ip_policies'; next !== null; ) {
      const current = await page(next)
      sizes.push(current.ids.length)
      next = current.next
    }
    expect(sizes).toEqual([100, 100, 50])
    const small = await page('/ip_policies?limit=7')
    expect(new URL(String(small.next)).searchParams.get('limit')).toBe('7')
    expect(new URL(String(small.next)).searchParams.get('before_id')).toBe(small.ids.at(-1))
  })

  it('ends without a next page when the last page is exactly full', async () => {
    emulator.admin.seed({ bulk: [{ collection: 'ip_policies', count: 4 }] })
    expect((await page('/ip_policies?limit=4')).next).toBeNull()
    expect((await page('/ip_policies?limit=3')).next).not.toBeNull()
  })

  it('refuses a cursor from another collection or another account', async () => {
    const { accounts } = emulator.admin.seed({ accounts: [{}] })
    const stranger = new EmulatorClient(emulator.url, accounts[0]?.apiKey ?? '')
    const theirs = await stranger.create('/ip_policies')
    const backend = await client.create('/backends/tunnel_group')
    for (const cursor of [theirs, backend]) {
      expect((await client.get(`/ip_policies?before_id=${cursor}`)).status).toBe(400)
    }
  })

  it('uses the host that the client used', async () => {
    const { port } = new URL(emulator.url)
    const viaName = new EmulatorClient(`http://localhost:${port}`, emulator.apiKey)
    const { body } = await viaName.get('/ip_policies')
    expect(body.uri).toBe(`http://localhost:${port}/ip_policies`)
  })
})
