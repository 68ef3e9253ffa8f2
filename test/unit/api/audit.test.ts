import { describe, expect, test } from 'vitest'
import type { ApiClientOptions } from '../../../src/api/client.ts'
import { collections } from '../../../src/api/collections.ts'
import { ApiError } from '../../../src/api/errors.ts'
import type { WriteOptions } from '../../../src/api/types.ts'
import type { WriteReport } from '../../../src/telemetry/write-origin.ts'
import { apiError, type Handler, json } from '../../builders/http-server.ts'
import { clientFor, failure, KEY, serve } from './client-fixture.ts'

const { ipPolicies, eventDestinations, tunnelSessions } = collections
const because: WriteOptions = {
  origin: { reason: 'spec', resource: { kind: 'IPPolicy', namespace: 'shop', name: 'office', uid: 'u-1' } },
}

async function recording(handler: Handler, options: Partial<ApiClientOptions> = {}) {
  const server = await serve(handler)
  const reports: WriteReport[] = []
  const onWrite = (report: WriteReport): void => void reports.push(report)
  return { client: clientFor(server.url, { onWrite, ...options }), reports }
}

describe('a report of a write', () => {
  test('names the object, the fields sent and the API’s own name of the request', async () => {
    const stored = { id: 'ipp_1', description: 'office' }
    const { client, reports } = await recording(({ method }, response) => {
      if (method === 'DELETE') response.writeHead(204, { 'operation-id': 'op_2' }).end()
      else json(response, method === 'POST' ? 201 : 200, stored, { 'operation-id': 'op_1' })
    })
    await client.create(ipPolicies, { metadata: 'm', description: 'office' }, because)
    await client.update(ipPolicies, 'ipp_1', { description: 'office' }, because)
    await client.delete(ipPolicies, 'ipp_1', because)
    await client.command(tunnelSessions, 'ts_1', 'restart', because).catch(() => undefined)
    const common = { ...because, outcome: 'done', seconds: expect.any(Number) }
    expect(reports.slice(0, 3)).toMatchObject([
      {
        ...common,
        method: 'POST',
        objectId: 'ipp_1',
        fields: ['description', 'metadata'],
        status: 201,
        operationId: 'op_1',
      },
      { ...common, method: 'PATCH', objectId: 'ipp_1', fields: ['description'], status: 200, operationId: 'op_1' },
      { ...common, method: 'DELETE', objectId: 'ipp_1', fields: [], status: 204, operationId: 'op_2' },
    ])
    expect(reports[3]).toMatchObject({ collection: 'tunnel_sessions', objectId: 'ts_1', command: 'restart' })
    expect(reports).toHaveLength(4)
  })

  test('tells a refusal from an answer that got lost, and what was absent from what was deleted', async () => {
    const { client, reports } = await recording(({ path, method }, response) => {
      if (path.endsWith('/ipp_gone')) apiError(response, 404, 'there is none')
      else if (method === 'PATCH') response.destroy()
      else if (method === 'DELETE') apiError(response, 500, 'broken')
      else apiError(response, 400, 'not so')
    })
    await failure(client.create(ipPolicies, {}, because))
    await failure(client.update(ipPolicies, 'ipp_1', {}, because))
    await failure(client.delete(ipPolicies, 'ipp_1', because))
    await client.delete(ipPolicies, 'ipp_gone', because)
    expect(reports).toMatchObject([
      {
        outcome: 'refused',
        status: 400,
        error: 'Invalid',
        apiErrorCode: 'ERR_1',
        operationId: 'op_1',
        objectId: undefined,
      },
      { outcome: 'unknown', status: undefined, error: 'Network', operationId: undefined },
      { outcome: 'unknown', status: 500, error: 'ServerError', operationId: 'op_1' },
      { outcome: 'absent', status: 404, error: undefined, operationId: 'op_1' },
    ])
  })

  test('calls a create that was answered without an id unknown', async () => {
    const { client, reports } = await recording((_, response) => json(response, 201, { description: 'office' }))
    await failure(client.create(ipPolicies, {}, because))
    expect(reports).toMatchObject([{ outcome: 'unknown', status: 201, objectId: undefined }])
  })

  test('is not made for what surely was not sent, nor for reads', async () => {
    const { client, reports } = await recording((_, response) => json(response, 200, { id: 'ipp_1' }), {
      beforeWrite: () => {
        throw new ApiError('NotLeader', 'not any more', { definite: true })
      },
    })
    await failure(client.create(ipPolicies, {}, because))
    await client.get(ipPolicies, 'ipp_1')
    const server = await serve(() => undefined)
    const refusing = clientFor(server.url, { onWrite: (report) => void reports.push(report) })
    await server.close()
    expect(await failure(refusing.create(ipPolicies, {}, because))).toMatchObject({ code: 'Network', definite: true })
    expect(reports).toEqual([])
  })

  test('holds no value of any field, and neither the key nor what the API says', async () => {
    const { client, reports } = await recording((_, response) => apiError(response, 400, 'we do not like s3cr3t-value'))
    const target = { monitor: { api_key: 's3cr3t-value', service: 'shop' } }
    await failure(client.create(eventDestinations, { format: 'json', target }, because))
    expect(reports).toMatchObject([{ fields: ['format', 'target'] }])
    for (const secret of ['s3cr3t-value', KEY, 'like']) expect(JSON.stringify(reports)).not.toContain(secret)
  })
})
