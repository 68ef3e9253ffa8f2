import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { auditedRequests } from '../../../../src/cli/cluster/audit-records.ts'
import { ExplainedClient } from '../../../../src/cli/cluster/explained-client.ts'
import { type ClosableKubeClient, createKubeClient } from '../../../../src/kube/client.ts'
import { auditRecord } from '../../../../src/telemetry/audit.ts'
import type { WriteReport } from '../../../../src/telemetry/write-origin.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { systemRandom } from '../../../../src/util/random.ts'
import { type FakeKubeServer, sendJson, sendStatus, startFakeKubeServer } from '../../../builders/fake-kube-server.ts'
import { writeReport } from '../../../builders/write-report.ts'

const NOON = Date.parse('2026-11-24T12:00:00Z')
const PODS = '/api/v1/namespaces/culvert-system/pods'
const OPERATOR = { namespace: 'culvert-system', release: 'culvert' }
const EDGE = { namespace: 'web', regarding: { kind: 'Edge', name: 'shop' } }

function line(name: string, seconds: number, report: Partial<WriteReport> = {}): string {
  const resource = { kind: 'Edge', namespace: 'web', name, uid: `uid of ${name}` }
  const update = { origin: { resource, reason: 'drift' }, collection: 'edges/tls', objectId: 'edge_1' } as const
  const sent = writeReport({ ...update, ...report })
  return `${JSON.stringify(auditRecord('Account/web/default', sent, NOON + seconds * 1000))}\n`
}

let server: FakeKubeServer
let kube: ClosableKubeClient
let client: ExplainedClient
/** What the Pods have written; a number is the status with which the log is refused. */
let logs: Record<string, string | number>

beforeEach(async () => {
  logs = {}
  server = await startFakeKubeServer(({ path }, response) => {
    if (path === PODS) {
      const items = Object.keys(logs).map((name) => ({
        metadata: { name, namespace: 'culvert-system', uid: name, resourceVersion: '1' },
      }))
      return sendJson(response, 200, { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items })
    }
    const log = logs[path.slice(PODS.length + 1).replace(/\/log$/, '')]
    if (typeof log === 'string') return void response.writeHead(200, { 'content-type': 'text/plain' }).end(log)
    sendStatus(response, log ?? 404, log === 403 ? 'Forbidden' : 'BadRequest', 'User cannot get resource "pods/log"')
  })
  kube = createKubeClient({ connection: server.connection, clock: systemClock, random: systemRandom, maxRetries: 0 })
  client = new ExplainedClient(kube, server.url)
})

afterEach(async () => {
  await kube.close()
  await server[Symbol.asyncDispose]()
})

describe('requests in the logs of the operator', () => {
  test('are those for the resource, of all its Pods in the order of time, among whatever else is logged', async () => {
    logs = {
      'culvert-0': `{"level":30,"msg":"reconciling"}\nnot JSON\n{"audit":true,\n${line('shop', 3)}${line('other', 4)}`,
      'culvert-1': line('shop', 1, { method: 'POST', outcome: 'refused', status: 400, objectId: undefined }),
    }
    const found = await auditedRequests(client, OPERATOR, { ...EDGE, sinceMs: 90_500 })
    const regarding = { kind: 'Edge', namespace: 'web', name: 'shop' }
    expect(found).toMatchObject([
      { type: 'Warning', reason: 'drift', note: 'POST edges/tls refused (400): description', regarding },
      { type: 'Normal', reason: 'drift', note: 'PATCH edges/tls/edge_1 done (200): description', regarding },
    ])
    expect(found?.map(({ at, request }) => [at, request?.operationId])).toEqual([
      ['2026-11-24T12:00:01.000Z', 'op_1'],
      ['2026-11-24T12:00:03.000Z', 'op_1'],
    ])
    const [list, log] = server.requests
    expect(list?.query.get('labelSelector')).toBe(
      'app.kubernetes.io/component=operator,app.kubernetes.io/instance=culvert',
    )
    expect(log?.query.get('sinceSeconds')).toBe('91')
  })

  test('are those of a namespace, or of all, where no resource is named', async () => {
    logs = { 'culvert-0': line('shop', 1) + line('other', 2) }
    const count = async (namespace: string | undefined) => {
      return (await auditedRequests(client, OPERATOR, { namespace, sinceMs: 1000 }))?.length
    }
    expect([await count('web'), await count('elsewhere'), await count(undefined)]).toEqual([2, 0, 2])
    const everywhere = { namespace: undefined, regarding: EDGE.regarding, sinceMs: 1000 }
    expect(await auditedRequests(client, OPERATOR, everywhere)).toHaveLength(1)
  })

  test('are unknown where the logs may not be read, or no Pod is found', async () => {
    expect(await auditedRequests(client, OPERATOR, { ...EDGE, sinceMs: 1000 })).toBeUndefined()
    logs = { 'culvert-0': 403, 'culvert-1': line('shop', 1) }
    expect(await auditedRequests(client, OPERATOR, { ...EDGE, sinceMs: 1000 })).toBeUndefined()
  })

  test('lack those of a Pod that has not started, and nothing else', async () => {
    logs = { 'culvert-0': 400, 'culvert-1': line('shop', 1) }
    expect(await auditedRequests(client, OPERATOR, { ...EDGE, sinceMs: 1000 })).toHaveLength(1)
  })
})
