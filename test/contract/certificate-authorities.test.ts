import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefusal } from '../builders/contract/api-client.ts'
import { caFacts, caPem, leafPem, namelessCaPem, partnerCaFacts, partnerCaPem } from '../builders/contract/ca-pem.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const path = 'certificate_authorities'
const PRIVATE_KEY = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n'

test(stated('certificate-authorities.pem'), async () => {
  const accepted: readonly (readonly [string, typeof caFacts | typeof partnerCaFacts])[] = [
    [caPem, caFacts],
    [caPem + partnerCaPem, caFacts],
    [partnerCaPem + caPem, partnerCaFacts],
    [`# our partner\r\n${partnerCaPem.replaceAll('\n', '\r\n')}`, partnerCaFacts],
  ]
  for (const [ca_pem, facts] of accepted) {
    const created = await world.api.create(path, { ca_pem })
    expect(created).toMatchObject({ ca_pem, ...facts })
    expect(await world.api.get(path, created.id)).toEqual(created)
  }
  const refused = {
    empty: '',
    'no PEM': 'hello',
    'no certificate inside': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    'not a CA': leafPem,
    'a CA, and then one that is not': caPem + leafPem,
    'a private key next to it': caPem + PRIVATE_KEY,
    'cut off': caPem + partnerCaPem.slice(0, -40),
    'damaged inside': caPem.replace('MIIB', 'MIIC'),
  }
  for (const [title, ca_pem] of Object.entries(refused)) {
    const answer = await world.api.call('POST', `/${path}`, { body: { ca_pem } })
    expect(answer.status, title).toBe(400)
    expect(expectRefusal(answer, 400, 'ca_pem').details.field).toBe('ca_pem')
  }
  expectRefusal(await world.api.call('POST', `/${path}`, { body: { ca_pem: caPem + PRIVATE_KEY } }), 400, 'PRIVATE KEY')
})

test(stated('certificate-authorities.usages'), async () => {
  const partner = await world.api.create(path, { ca_pem: partnerCaPem })
  expect(partner.key_usages).toEqual(partnerCaFacts.key_usages)
  expect(partner.extended_key_usages).toEqual(['serverAuth', 'clientAuth', '1.3.6.1.4.1.99999.1'])
})

test('a CA without a common name and without usages shows empty values', async () => {
  expect(await world.api.create(path, { ca_pem: namelessCaPem })).toMatchObject({
    subject_common_name: '',
    key_usages: [],
    extended_key_usages: [],
  })
})
