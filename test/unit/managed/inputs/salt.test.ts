import { expect, test } from 'vitest'
import { secretType } from '../../../../src/kube/core-types.ts'
import { KubeError } from '../../../../src/kube/kube-error.ts'
import type { KubeClient, KubeObject } from '../../../../src/kube/types.ts'
import { keptSalt, SALT_SECRET } from '../../../../src/managed/inputs/salt.ts'
import { systemRandom } from '../../../../src/util/random.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { KubeProcess } from '../../../faults/simulation/kube-client.ts'
import { VirtualTime } from '../../../faults/simulation/virtual-time.ts'

const NAMESPACE = 'culvert-system'
const KEY = { namespace: NAMESPACE, name: SALT_SECRET }

function world() {
  const time = new VirtualTime()
  const kube = new ModelKube()
  const processes: KubeProcess[] = []
  const client = (): KubeClient => {
    const process = new KubeProcess(kube, time)
    processes.push(process)
    return process.client
  }
  const writes = () => processes.flatMap((process) => process.writes)
  const read = async (clients: readonly KubeClient[]): Promise<readonly Buffer[]> => {
    const salts = Promise.all(
      clients.map((each) => keptSalt({ kube: each, namespace: NAMESPACE, random: systemRandom })),
    )
    await time.advance(5_000)
    return await salts
  }
  return { kube, writes, client, read }
}

/** The client, with another implementation of one method. */
function answering<Method extends keyof KubeClient>(kube: KubeClient, method: Method, answer: KubeClient[Method]) {
  return new Proxy(kube, {
    get: (target, name) => {
      const found: unknown = name === method ? answer : Reflect.get(target, name)
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
}

test('is made once, of 32 random bytes, and read by every later process', async () => {
  const { kube, writes, client, read } = world()
  const [first] = await read([client()])
  const [second] = await read([client()])
  expect(first).toHaveLength(32)
  expect(second).toEqual(first)
  expect(writes()).toEqual([`POST /api/v1/namespaces/${NAMESPACE}/secrets`])
  const [secret] = kube.list(secretType).items as readonly (KubeObject & { type?: string; immutable?: boolean })[]
  expect(secret).toMatchObject({ type: 'Opaque', immutable: true })
  expect(secret?.metadata).toMatchObject({ ...KEY, labels: { 'app.kubernetes.io/managed-by': 'culvert' } })
})

test('is the same for processes that start at the same moment', async () => {
  const { client, read } = world()
  const salts = await read([client(), client(), client()])
  expect(new Set(salts.map((salt) => salt.toString('hex'))).size).toBe(1)
})

test('is found when the answer to its create got lost', async () => {
  const { client, read } = world()
  const kube = client()
  let lost = 0
  const losing = answering(kube, 'create', async (...call) => {
    await kube.create(...call)
    lost++
    throw new KubeError('Timeout', 'no answer')
  })
  const [found] = await read([losing])
  const [kept] = await read([client()])
  expect(found).toEqual(kept)
  expect(lost).toBe(1)
})

test.each([
  ['empty', {}],
  ['without a value', { data: { salt: '' } }],
  ['too short', { data: { salt: Buffer.alloc(31, 7).toString('base64') } }],
  ['under another key', { data: { other: Buffer.alloc(32, 7).toString('base64') } }],
])('is recreated in the place of one that is %s', async (_, secret) => {
  const { kube, client, read } = world()
  kube.create(secretType, KEY, secret)
  const [salt] = await read([client()])
  expect(salt).toHaveLength(32)
  expect(salt).not.toEqual(Buffer.alloc(32, 7))
  expect(await read([client()])).toEqual([salt])
})

test('one that may not be read is reported with the Secret and the missing right', async () => {
  const { client } = world()
  const forbidden = new KubeError('Forbidden', 'GET secrets/culvert-salt: forbidden', { status: 403 })
  const refused = answering(client(), 'get', () => Promise.reject(forbidden))
  const error = keptSalt({ kube: refused, namespace: NAMESPACE, random: systemRandom })
  await expect(error).rejects.toMatchObject({ code: 'Forbidden' })
  await expect(error).rejects.toThrow(`${NAMESPACE}/${SALT_SECRET}`)
})
