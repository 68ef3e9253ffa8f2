import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CommandError } from '../../../../src/cli/cluster/command-error.ts'
import { ExplainedClient } from '../../../../src/cli/cluster/explained-client.ts'
import { type ClosableKubeClient, createKubeClient } from '../../../../src/kube/client.ts'
import type { ResourceType } from '../../../../src/kube/types.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { systemRandom } from '../../../../src/util/random.ts'
import { type FakeKubeServer, sendJson, sendStatus, startFakeKubeServer } from '../../../builders/fake-kube-server.ts'

const edges: ResourceType = {
  group: 'culvert.dev',
  version: 'v1alpha1',
  plural: 'edges',
  kind: 'Edge',
  namespaced: true,
}
const shop = { namespace: 'web', name: 'shop' }

let server: FakeKubeServer
let kube: ClosableKubeClient
let client: ExplainedClient

beforeEach(async () => {
  server = await startFakeKubeServer()
  kube = createKubeClient({ connection: server.connection, clock: systemClock, random: systemRandom, maxRetries: 0 })
  client = new ExplainedClient(kube, server.url)
})

afterEach(async () => {
  await kube.close()
  await server[Symbol.asyncDispose]()
})

async function errorOf(call: Promise<unknown>): Promise<CommandError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof CommandError)) throw new Error(`no CommandError: ${String(error)}`)
  return error
}

describe('a call that fails', () => {
  test('for want of a right names verb, resource and namespace, and how to check it', async () => {
    server.handle((_request, response) =>
      sendStatus(
        response,
        403,
        'Forbidden',
        'edges.culvert.dev "shop" is forbidden: User "jane" cannot patch resource',
      ),
    )
    const error = await errorOf(client.mergePatch(edges, shop, {}))
    expect(error.code).toBe('Forbidden')
    expect(error.message).toContain('you are not allowed to patch edges.culvert.dev in namespace web')
    expect(error.command).toBe('kubectl auth can-i patch edges.culvert.dev/shop -n web')
  })

  test('because an admission policy refuses repeats what the policy says', async () => {
    server.handle((_request, response) =>
      sendStatus(response, 403, 'Forbidden', 'policy "x" denied request: not today'),
    )
    const error = await errorOf(client.mergePatch(edges, shop, {}))
    expect(error.message).toContain('not today')
  })

  test('because the CRD is missing says so, and how to install it', async () => {
    server.handle(({ path }, response) => {
      if (path === '/apis/culvert.dev/v1alpha1') sendJson(response, 200, { resources: [{ name: 'backends' }] })
      else if (path === '/apis') sendJson(response, 200, { groups: [{ name: 'apps' }] })
      else response.writeHead(404).end('404 page not found')
    })
    const error = await errorOf(client.get(edges, shop))
    expect(error.code).toBe('NotInstalled')
    expect(error.lines.join('\n')).toContain('edges.culvert.dev/v1alpha1')
  })

  test('because the server does not answer names the server', async () => {
    const { url } = server
    await server[Symbol.asyncDispose]()
    const error = await errorOf(client.get(edges, shop))
    expect(error.code).toBe('Unreachable')
    expect(error.message).toContain(url)
    server = await startFakeKubeServer()
  })

  test('because the credentials are wrong says so', async () => {
    server.handle((_request, response) => sendStatus(response, 401, 'Unauthorized', 'Unauthorized'))
    expect((await errorOf(client.get(edges, shop))).code).toBe('Unauthorized')
  })
})

test('an object that is absent is none, if the cluster has its type', async () => {
  server.handle(({ path }, response) => {
    if (path === '/apis/culvert.dev/v1alpha1') sendJson(response, 200, { resources: [{ name: 'edges' }] })
    else sendStatus(response, 404, 'NotFound', 'edges.culvert.dev "shop" not found')
  })
  expect(await client.get(edges, shop)).toBeUndefined()
})
