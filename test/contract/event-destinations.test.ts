import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, expectRefusal, type Resource } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const path = 'event_destinations'
const secret = 'a-very-secret-value'
const role = { role: { role_arn: 'arn:cloud:role/a' } }
const creds = { creds: { cloud_access_key_id: 'AKID', cloud_secret_access_key: secret } }
const none = { firehose: null, kinesis: null, cloudwatch_logs: null, monitor: null }

const members = [
  { member: 'firehose', fields: { delivery_stream_arn: 'arn:cloud:deliverystream/a' } },
  { member: 'kinesis', fields: { stream_arn: 'arn:cloud:stream/a' } },
  { member: 'cloudwatch_logs', fields: { log_group_arn: 'arn:cloud:loggroup/a' } },
] as const

const create = (target: unknown): Promise<Resource> => world.api.create(path, { format: 'json', target })
const post = (target: unknown): Promise<Answer> =>
  world.api.call('POST', `/${path}`, { body: { format: 'json', target } })
const patch = (id: string, target: unknown): Promise<Answer> =>
  world.api.call('PATCH', `/${path}/${id}`, { body: { target } })

describe.each(members)('target $member', ({ member, fields }) => {
  test(stated('destinations.every-member'), async () => {
    const byRole = await create({ [member]: { auth: role, ...fields } })
    expect(byRole.target).toEqual({ ...none, [member]: { auth: { ...role, creds: null }, ...fields } })
    const byCreds = await create({ [member]: { auth: creds, ...fields } })
    const shown = { creds: { cloud_access_key_id: 'AKID', cloud_secret_access_key: null }, role: null }
    expect(byCreds.target).toEqual({ ...none, [member]: { auth: shown, ...fields } })
  })

  test(stated('destinations.auth-exactly-one'), async () => {
    for (const auth of [{}, { ...role, ...creds }, { role: null, creds: null }]) {
      expectRefusal(await post({ [member]: { auth, ...fields } }), 400, 'auth')
    }
    // Null means absent.
    expect((await post({ [member]: { auth: { ...role, creds: null }, ...fields } })).status).toBe(201)
  })

  test('needs its auth, its resource name, and the parts of its auth', async () => {
    const [name = ''] = Object.keys(fields)
    expectRefusal(await post({ [member]: fields }), 400, 'auth')
    expectRefusal(await post({ [member]: { auth: role } }), 400, name)
    expectRefusal(await post({ [member]: { auth: { role: {} }, ...fields } }), 400, 'role_arn')
    const halves = { cloud_access_key_id: 'AKID' }
    expectRefusal(await post({ [member]: { auth: { creds: halves }, ...fields } }), 400, 'cloud_secret_access_key')
  })

  test(stated('destinations.secret-kept'), async () => {
    const { id } = await create({ [member]: { auth: creds, ...fields } })
    const withoutSecret = { creds: { cloud_access_key_id: 'AKID2' } }
    expect((await patch(id, { [member]: { auth: withoutSecret, ...fields } })).status).toBe(200)
    // A member without a secret has none to keep.
    const other = await create({ monitor: { api_key: secret } })
    expectRefusal(
      await patch(other.id, { [member]: { auth: withoutSecret, ...fields } }),
      400,
      'cloud_secret_access_key',
    )
    expectRefusal(await patch(id, { monitor: { service: 's' } }), 400, 'api_key')
  })
})

test('target monitor returns its values without the key, which an update may leave out', async () => {
  const values = { monitortags: 'env:test', service: 'culvert', monitorsite: 'eu' }
  const created = await create({ monitor: { api_key: secret, ...values } })
  expect(created.target).toEqual({ ...none, monitor: { api_key: null, ...values } })
  expectRefusal(await post({ monitor: values }), 400, 'api_key')
  const changed = await world.api.update(path, created.id, { target: { monitor: { ...values, service: 'other' } } })
  expect(changed.target).toEqual({ ...none, monitor: { api_key: null, ...values, service: 'other' } })
})

test(stated('destinations.exactly-one-member'), async () => {
  const monitor = { api_key: secret }
  const kinesis = { auth: role, stream_arn: 'arn:a' }
  const { id } = await create({ monitor })
  for (const target of [{}, none, { monitor, kinesis }]) {
    expectRefusal(await post(target), 400, 'target')
    expectRefusal(await patch(id, target), 400, 'target')
  }
  // Null means absent, as in responses.
  expect((await post({ ...none, kinesis })).status).toBe(201)
})

test(stated('destinations.target-replaced'), async () => {
  const { id } = await create({ monitor: { api_key: secret, service: 's', monitortags: 'a:b' } })
  const kinesis = { auth: role, stream_arn: 'arn:a' }
  const moved = await world.api.update(path, id, { target: { kinesis } })
  expect(moved.target).toEqual({ ...none, kinesis: { auth: { ...role, creds: null }, stream_arn: 'arn:a' } })
  const back = await world.api.update(path, id, { target: { monitor: { api_key: secret } } })
  expect(back.target).toEqual({ ...none, monitor: expect.objectContaining({ api_key: null }) })
  expect(JSON.stringify(back.target)).not.toContain('a:b')
})

test(stated('destinations.secrets-hidden'), async () => {
  const { id } = await create({ monitor: { api_key: secret } })
  await create({ kinesis: { auth: creds, stream_arn: 'arn:a' } })
  const answers = [
    await post({ firehose: { auth: creds, delivery_stream_arn: 'arn:b' } }),
    await patch(id, { monitor: { api_key: secret, service: 's' } }),
    await world.api.call('GET', `/${path}/${id}`),
    await world.api.call('GET', `/${path}`),
    // Nor does a refusal of the request that contained it.
    await post({ monitor: { api_key: secret }, kinesis: { auth: creds } }),
    await world.api.call('POST', `/${path}`, { body: { format: 'xml', target: { monitor: { api_key: secret } } } }),
  ]
  for (const answer of answers) expect(answer.text).not.toContain(secret)
})

test(stated('destinations.s3'), async () => {
  expectRefusal(await post({ s3: { bucket: 'b' } }), 400, 's3')
  expectRefusal(await post({ s3: {}, monitor: { api_key: secret } }), 400)
})

test(stated('destinations.format-case'), async () => {
  for (const format of ['json', 'JSON', 'Json']) {
    const created = await world.api.create(path, { format, target: { monitor: { api_key: secret } } })
    expect(created.format).toBe('json')
    expect((await world.api.update(path, created.id, { format: 'JSON' })).format).toBe('json')
  }
  const body = { format: 'xml', target: { monitor: { api_key: secret } } }
  expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, 'format')
})
