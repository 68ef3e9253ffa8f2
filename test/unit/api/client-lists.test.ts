import { describe, expect, it } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { apiError, json } from '../../builders/http-server.ts'
import { clientFor, failure, serve } from './client-fixture.ts'

const { ipPolicies, agentIngresses } = collections

/** Answers page `n` for `?page=n`; `next` computes `next_page_uri` from the page and the server's own address. */
function pages(count: number, next: (page: number, host: string) => string | null): Parameters<typeof serve>[0] {
  return (request, response) => {
    const page = Number(new URL(request.path, 'http://x').searchParams.get('page') ?? '1')
    const nextPage = page < count ? next(page + 1, request.headers.host ?? '') : null
    json(response, 200, { ip_policies: [{ id: `ipp_${page}` }], uri: 'x', next_page_uri: nextPage })
  }
}

describe('a list', () => {
  it.each([
    ['absolute', '', (page: number, host: string) => `http://${host}/ip_policies?page=${page}`],
    ['a path', '', (page: number) => `/ip_policies?page=${page}`],
    ['a bare query', '', (page: number) => `?page=${page}`],
    [
      'absolute below the base path',
      '/v1',
      (page: number, host: string) => `http://${host}/v1/ip_policies?page=${page}`,
    ],
    ['a path relative to the base URL', '/v1', (page: number) => `/ip_policies?page=${page}`],
    ['relative to the base URL, without a slash', '/v1', (page: number) => `ip_policies?page=${page}`],
  ])('follows next_page_uri that is %s', async (_, base, next) => {
    const server = await serve(pages(3, next))
    const list = await clientFor(`${server.url}${base}`).list(ipPolicies)
    expect(list.objects.map((object) => object.id)).toEqual(['ipp_1', 'ipp_2', 'ipp_3'])
    expect(list.pages).toBe(3)
    expect(server.requests.map((request) => request.path)).toEqual([
      `${base}/ip_policies`,
      `${base}/ip_policies?page=2`,
      `${base}/ip_policies?page=3`,
    ])
  })

  it('resolves a relative next_page_uri against the base URL, however deep the collection is', async () => {
    const server = await serve((request, response) => {
      const isLast = request.path.includes('page=2')
      json(response, 200, { tcp_edges: [], next_page_uri: isLast ? null : 'edges/tcp?page=2' })
    })
    await clientFor(`${server.url}/v1`).list(collections.tcpEdges)
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/edges/tcp', '/v1/edges/tcp?page=2'])
  })

  it('began when its first page was asked for', async () => {
    const server = await serve(pages(2, (page) => `?page=${page}`))
    const before = systemClock.monotonic()
    const list = await clientFor(server.url).list(ipPolicies)
    expect(list.beganAt).toBeGreaterThanOrEqual(before)
    expect(list.beganAt).toBeLessThan(systemClock.monotonic())
  })

  it.each([
    ['another host', 'http://other.example/ip_policies?page=2'],
    ['another port', 'http://127.0.0.1:1/ip_policies?page=2'],
    ['a host without a scheme', '//other.example/ip_policies'],
    ['another scheme', 'ftp://127.0.0.1/'],
  ])('refuses a next_page_uri with %s', async (_, next) => {
    const server = await serve(pages(2, () => next))
    expect(await failure(clientFor(server.url).list(ipPolicies))).toMatchObject({ code: 'HostNotAllowed' })
    expect(server.requests).toHaveLength(1)
  })

  it('refuses a next_page_uri outside the path of the base URL, also through dots', async () => {
    const outside = await serve(pages(2, (page, host) => `http://${host}/v2/ip_policies?page=${page}`))
    expect(await failure(clientFor(`${outside.url}/v1`).list(ipPolicies))).toMatchObject({ code: 'HostNotAllowed' })
    const dots = await serve(pages(2, () => '../../x'))
    expect(await failure(clientFor(`${dots.url}/v1`).list(ipPolicies))).toMatchObject({ code: 'HostNotAllowed' })
  })

  it('ends at a next_page_uri that is absent or empty', async () => {
    const server = await serve((_, response) => json(response, 200, { ip_policies: [], next_page_uri: '' }))
    expect((await clientFor(server.url).list(ipPolicies)).pages).toBe(1)
    const bare = await serve((_, response) => json(response, 200, { ip_policies: [] }))
    expect((await clientFor(bare.url).list(ipPolicies)).pages).toBe(1)
  })

  it('that comes back to a page already read is refused', async () => {
    const server = await serve(pages(9, (page) => `?page=${page === 4 ? 2 : page}`))
    expect(await failure(clientFor(server.url).list(ipPolicies))).toMatchObject({ code: 'InvalidResponse' })
    expect(server.requests).toHaveLength(3)
  })

  it('starts over when its cursor is lost, and gives each object once', async () => {
    let lost = 0
    const server = await serve((request, response) => {
      if (request.path.includes('page=2') && lost++ === 0) apiError(response, 400, 'unknown before_id')
      else pages(2, (page) => `?page=${page}`)(request, response)
    })
    const list = await clientFor(server.url).list(ipPolicies)
    expect(list.objects.map((object) => object.id)).toEqual(['ipp_1', 'ipp_2'])
    expect(server.requests).toHaveLength(4)
  })

  it('fails when its cursor is lost again and again', async () => {
    const server = await serve((request, response) => {
      if (request.path.includes('page=2')) apiError(response, 400, 'unknown before_id')
      else pages(2, (page) => `?page=${page}`)(request, response)
    })
    expect(await failure(clientFor(server.url).list(ipPolicies))).toMatchObject({ code: 'Invalid' })
    expect(server.requests).toHaveLength(6)
  })

  it('that is refused on its first page is not begun again', async () => {
    const server = await serve((_, response) => apiError(response, 400, 'no'))
    await failure(clientFor(server.url).list(ipPolicies))
    expect(server.requests).toHaveLength(1)
  })

  it('fails whole when a later page fails', async () => {
    const server = await serve((request, response) => {
      if (request.path.includes('page=2')) apiError(response, 500, 'broken')
      else pages(2, (page) => `?page=${page}`)(request, response)
    })
    expect(await failure(clientFor(server.url).list(ipPolicies))).toMatchObject({ code: 'ServerError' })
  })

  it('gives an object that two pages hold once', async () => {
    const server = await serve((request, response) => {
      const second = request.path.includes('page=2')
      json(response, 200, { ip_policies: [{ id: 'a' }, { id: 'b' }], next_page_uri: second ? null : '?page=2' })
    })
    expect((await clientFor(server.url).list(ipPolicies)).objects.map((object) => object.id)).toEqual(['a', 'b'])
  })

  it.each([{}, { ip_policies: {} }, { ip_policies: [{}] }, { ip_policies: [], next_page_uri: 1 }, []])(
    'refuses %j for a list',
    async (body) => {
      const server = await serve((_, response) => json(response, 200, body))
      expect(await failure(clientFor(server.url).list(ipPolicies))).toMatchObject({ code: 'InvalidResponse' })
    },
  )

  it('is empty where the key of the collection is null', async () => {
    const server = await serve((_, response) => json(response, 200, { ip_policies: null, next_page_uri: null }))
    expect((await clientFor(server.url).list(ipPolicies)).objects).toEqual([])
  })

  it('reads the array under the key of the collection', async () => {
    const server = await serve((_, response) => json(response, 200, { ingresses: [{ id: 'agin_1' }] }))
    expect((await clientFor(server.url).list(agentIngresses)).objects).toEqual([{ id: 'agin_1' }])
  })

  it('takes a 404 for an error, not for an empty list', async () => {
    const server = await serve((_, response) => response.writeHead(404).end())
    expect(await failure(clientFor(server.url).list(ipPolicies))).toMatchObject({ code: 'NotFound' })
  })
})
