import { expect, onTestFinished, test } from 'vitest'
import { createApiClient } from '../../../src/api/client.ts'
import { collections } from '../../../src/api/collections.ts'
import { ApiError } from '../../../src/api/errors.ts'
import { RateBudget } from '../../../src/api/rate-budget.ts'
import { createKubeClient } from '../../../src/kube/client.ts'
import { KubeError } from '../../../src/kube/kube-error.ts'
import { systemClock as clock } from '../../../src/util/clock.ts'
import { systemRandom as random } from '../../../src/util/random.ts'
import { type HeldHandshake, holdHandshakes } from '../../builders/held-handshake.ts'

/** A leader that remains one until notified, like a suspended machine. */
class Leader {
  isLeader: boolean = true
  readonly asked: boolean[] = []

  check(refusal: Error): void {
    this.asked.push(this.isLeader)
    if (!this.isLeader) throw refusal
  }
}

interface Clients {
  readonly server: HeldHandshake
  readonly leader: Leader
  readonly writeAtApi: () => Promise<unknown>
  readonly writeAtKubernetes: () => Promise<unknown>
}

async function setUp(): Promise<Clients> {
  const server = await holdHandshakes({ id: 'ipp_1', metadata: { name: 'a', uid: 'u', resourceVersion: '1' } })
  const leader = new Leader()
  const api = createApiClient({
    baseURL: server.url,
    caBundle: server.ca,
    apiKey: () => 'key',
    budget: new RateBudget({ clock, random }),
    clock,
    random,
    userAgent: 'culvert/test',
    beforeWrite: () => leader.check(new ApiError('NotLeader', 'not now', { definite: true })),
  })
  const kube = createKubeClient({
    connection: {
      server: server.url,
      proxyUrl: undefined,
      namespace: undefined,
      material: () => Promise.resolve({ headers: {}, tls: { ca: server.ca } }),
      reload: () => undefined,
    },
    clock,
    random,
    beforeWrite: () => leader.check(new KubeError('NotLeader', 'not now')),
  })
  onTestFinished(async () => {
    await Promise.all([api.close(), kube.close()])
    await server[Symbol.asyncDispose]()
  })
  const edges = { group: 'culvert.dev', version: 'v1alpha1', plural: 'edges', kind: 'Edge', namespaced: true }
  return {
    server,
    leader,
    writeAtApi: () => api.update(collections.ipPolicies, 'ipp_1', {}),
    writeAtKubernetes: () => kube.mergePatch(edges, { namespace: 'shop', name: 'a' }, {}),
  }
}

const writes = ['writeAtApi', 'writeAtKubernetes'] as const

test.each(writes)('a process that loses leadership during the TLS handshake sends nothing: %s', async (write) => {
  const clients = await setUp()
  const { server, leader } = clients
  const written = clients[write]().catch((error: unknown) => error)
  await server.connected
  leader.isLeader = false
  server.removeFinalizer()
  expect(await written).toMatchObject({ code: 'NotLeader' })
  expect(server.requests).toEqual([])
  expect(leader.asked).toEqual([true, false])
})

test('what was refused on the connection is known not to have been carried out', async () => {
  const { server, leader, writeAtApi } = await setUp()
  const written = writeAtApi().catch((error: unknown) => error)
  await server.connected
  leader.isLeader = false
  server.removeFinalizer()
  expect(await written).toMatchObject({ definite: true, status: undefined })
})

test.each(writes)('a leader is asked before it connects and again before it sends: %s', async (write) => {
  const clients = await setUp()
  const { server, leader } = clients
  const written = clients[write]()
  await server.connected
  server.removeFinalizer()
  await written
  expect(server.requests).toHaveLength(1)
  expect(leader.asked).toEqual([true, true])
})
