import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { json, startServer, type TestServer } from '../../builders/http-server.ts'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { type Stop, Stops } from '../../cluster/support/stops.ts'
import { until } from '../../cluster/support/wait.ts'

const LANE = 'a'
const STOP: Stop = { request: 'PATCH /status | after the start', sort: 'PATCH /status', when: 'after', isWrite: true }
const find = () => ({ priority: LANE, sort: 'PATCH /status', isWrite: true })

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function stopsBefore(server: TestServer): Promise<{ readonly stops: Stops; readonly url: string }> {
  const proxy = await KubeProxy.inFrontOf(server.url)
  open.push({ close: () => proxy[Symbol.asyncDispose]() }, server)
  return { stops: new Stops([[proxy, find]]), url: `${proxy.url}/status` }
}

test('a request that its caller gives up before the answer arrives leaves its priority lost, although nothing else is asked', async () => {
  const answers: ServerResponse[] = []
  const { stops, url } = await stopsBefore(await startServer((_request, response) => void answers.push(response)))
  stops.arm(LANE, STOP)
  const caller = new AbortController()
  const asked = fetch(url, { method: 'PATCH', signal: caller.signal })
  await until('the server has the request', () => answers.length === 1)
  expect([stops.isMet(LANE), stops.isLost(LANE)]).toEqual([true, false])
  caller.abort()
  await expect(asked).rejects.toThrow()
  await until('the priority counts as lost', () => stops.isLost(LANE))
  expect(stops.reached(LANE)).toBe(false)
})

test('a priority whose answer is held stands at its stop, also when its caller has gone meanwhile', async () => {
  const { stops, url } = await stopsBefore(await startServer((_request, response) => json(response, 200, {})))
  stops.arm(LANE, STOP)
  const caller = new AbortController()
  const asked = fetch(url, { method: 'PATCH', signal: caller.signal })
  await until('the priority has reached its stop', () => stops.reached(LANE))
  caller.abort()
  await expect(asked).rejects.toThrow()
  expect([stops.reached(LANE), stops.isLost(LANE)]).toEqual([true, false])
})
