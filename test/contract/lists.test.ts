import { request } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectRefusal, type Resource } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

async function createPolicies(count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) ids.push((await world.api.create('ip_policies', {})).id)
  return ids
}

const page = (query: string): Promise<Resource> => world.api.object(200, 'GET', `/ip_policies${query}`)
const idsOf = (list: Resource): readonly string[] => (list.ip_policies as readonly Resource[]).map(({ id }) => id)

test('an empty list has an empty array and no next page', async () => {
  const list = await page('')
  expect(list.ip_policies).toEqual([])
  expect(list.next_page_uri).toBeNull()
  expect(String(list.uri).startsWith(`${world.url}/ip_policies`)).toBe(true)
})

test(stated('lists.limit-range'), async () => {
  for (const limit of ['0', '-1', '101', 'ten', '1.5', '']) {
    expectRefusal(await world.api.call('GET', `/ip_policies?limit=${limit}`), 400, 'limit')
  }
  for (const limit of ['1', '100']) await page(`?limit=${limit}`)
})

test(stated('lists.unknown-before-id'), async () => {
  for (const id of ['nothing', `ipp_${'0'.repeat(27)}`]) {
    expectRefusal(await world.api.call('GET', `/ip_policies?before_id=${id}`), 400, 'before_id')
  }
})

test(stated('lists.default-limit'), async () => {
  const ids = await createPolicies(101)
  const first = await page('')
  expect(idsOf(first)).toHaveLength(100)
  expect(first.next_page_uri).not.toBeNull()
  const second = await world.api.object(200, 'GET', String(first.next_page_uri))
  expect([...idsOf(first), ...idsOf(second)]).toEqual(ids.toReversed())
  expect(second.next_page_uri).toBeNull()
})

test(stated('lists.next-page-parameters'), async () => {
  await createPolicies(5)
  const first = await page('?limit=2')
  const next = new URL(String(first.next_page_uri))
  expect(next.origin + next.pathname).toBe(`${world.url}/ip_policies`)
  expect(next.searchParams.get('limit')).toBe('2')
  expect(next.searchParams.get('before_id')).toBe(idsOf(first).at(-1))
})

test(stated('lists.exact-page-is-last'), async () => {
  await createPolicies(4)
  const first = await page('?limit=2')
  const second = await world.api.object(200, 'GET', String(first.next_page_uri))
  expect(idsOf(second)).toHaveLength(2)
  expect(second.next_page_uri).toBeNull()
  expect((await page('?limit=4')).next_page_uri).toBeNull()
})

test(stated('query.unknown-ignored'), async () => {
  await createPolicies(1)
  expect(idsOf(await page('?colour=blue&limit=5'))).toHaveLength(1)
})

test(stated('lists.host-of-the-client'), async () => {
  await createPolicies(2)
  const { hostname, port } = new URL(world.url)
  const text = await new Promise<string>((resolve, reject) => {
    const headers = {
      Host: 'api.example.test:8443',
      Authorization: `Bearer ${world.apiKey}`,
      'Service-Version': '2',
    }
    request({ hostname, port, path: '/ip_policies?limit=1', headers }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
      })
      response.on('end', () => resolve(body))
    })
      .on('error', reject)
      .end()
  })
  const list = JSON.parse(text) as { uri: string; next_page_uri: string; ip_policies: readonly { uri: string }[] }
  for (const uri of [list.uri, list.next_page_uri, list.ip_policies[0]?.uri ?? '']) {
    expect(uri).toMatch(/^http:\/\/api\.example\.test:8443\/ip_policies/)
  }
})

test(stated('lists.stable-while-paging'), async () => {
  const stays = await createPolicies(4)
  const goes = await createPolicies(2)
  const shown = await createPolicies(3)
  const first = await page('?limit=2')
  expect(idsOf(first)).toEqual(shown.slice(1).toReversed())
  await createPolicies(3)
  for (const id of goes) await world.api.remove(`/ip_policies/${id}`)
  const rest = await world.api.all(String(first.next_page_uri), 'ip_policies')
  expect(rest.map(({ id }) => id)).toEqual([shown[0], ...stays.toReversed()])
})

test('a page that starts at an object deleted meanwhile is refused, so that nobody takes it for the rest', async () => {
  await createPolicies(4)
  const first = await page('?limit=2')
  await world.api.remove(`/ip_policies/${idsOf(first).at(-1)}`)
  const path = String(first.next_page_uri)
  expectRefusal(await world.api.call('GET', path), 400, 'before_id')
})
