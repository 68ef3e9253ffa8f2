import { expect, it } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import { apiError, json } from '../../builders/http-server.ts'
import { clientFor, failure, serve } from './client-fixture.ts'

const { ipPolicies } = collections
/** How long the server takes for an answer. Milliseconds. */
const LATENCY_MS = 20

/** Requests in flight before any answer. */
const AT_FIRST = 8

/** A server that answers every request, and the most requests that it had before it at once. */
async function server() {
  const seen = { now: 0, most: 0 }
  const { url } = await serve(({ path }, response) => {
    seen.now++
    seen.most = Math.max(seen.most, seen.now)
    setTimeout(() => {
      seen.now--
      json(response, 200, { id: path.split('/').at(-1) })
    }, LATENCY_MS)
  })
  return { client: clientFor(url), seen }
}

it('sends more requests at once while the API answers them', async () => {
  const { client, seen } = await server()
  await Promise.all(Array.from({ length: 300 }, (_, index) => client.get(ipPolicies, `ipp_${index}`)))
  expect(seen.most).toBeGreaterThan(8)
})

it('sends as many at once as at first while the API fails', async () => {
  const waiting: (() => void)[] = []
  let most = 0
  const { url } = await serve((_request, response) => {
    waiting.push(() => apiError(response, 503, 'no'))
    most = Math.max(most, waiting.length)
    // With fewer at once there is never an answer; a ninth would arrive during the pause.
    if (waiting.length !== AT_FIRST) return
    setTimeout(() => {
      for (const answer of waiting.splice(0)) answer()
    }, LATENCY_MS)
  })
  const client = clientFor(url)
  await Promise.all(Array.from({ length: 5 * AT_FIRST }, () => failure(client.create(ipPolicies, {}))))
  expect(most).toBe(8)
})
