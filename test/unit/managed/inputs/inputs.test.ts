import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { certificateAuthority } from '../../../../src/kinds/certificate-authority.ts'
import { eventDestination } from '../../../../src/kinds/event-destination.ts'
import { secretType } from '../../../../src/kube/core-types.ts'
import { KeptKeys } from '../../../../src/managed/accounts/kept-key.ts'
import type { ManagedDescriptor } from '../../../../src/managed/descriptor/descriptor.ts'
import { readInputs } from '../../../../src/managed/inputs/inputs.ts'
import { compareFingerprints, Fingerprints } from '../../../../src/managed/run/fingerprints.ts'
import { cr } from '../../../builders/custom-resource.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { KubeProcess } from '../../../faults/simulation/kube-client.ts'
import { VirtualTime } from '../../../faults/simulation/virtual-time.ts'

const SECRET = { namespace: 'shop', name: 'aws' }
const descriptor = eventDestination as unknown as ManagedDescriptor
const ref = (key: string) => ({ name: 'aws', key })
const spec = {
  type: 'Kinesis',
  kinesis: {
    streamARN: 'arn:aws:kinesis:eu-central-1:123456789012:stream/a',
    auth: {
      type: 'AccessKey',
      accessKey: { accessKeyIDSecretRef: ref('id'), secretAccessKeySecretRef: ref('secret') },
    },
  },
}

function world() {
  const time = new VirtualTime()
  const kube = new ModelKube()
  const { client, writes } = new KubeProcess(kube, time)
  /** Advances time until `call` is answered. */
  const answered = async <T>(call: Promise<T>): Promise<T> => {
    await time.advance(1000)
    return await call
  }
  return { kube, writes, client, answered }
}

const FINGERPRINTS = new Fingerprints(Buffer.alloc(32, 1))

async function inputs(data: Readonly<Record<string, string>>, uid = 'mine', fingerprints = FINGERPRINTS) {
  const { kube, client, answered } = world()
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  )
  kube.create(secretType, SECRET, { data: encoded })
  return await answered(
    readInputs({ kube: client, fingerprints }, descriptor, cr({ uid }, {}, spec)).catch(
      (error: unknown) => error as Error,
    ),
  )
}

describe('inputs', () => {
  test('are read to the letter', async () => {
    const read = await inputs({ id: 'AKIA', secret: ' pä55 ' })
    if (read instanceof Error) throw read
    expect(read.get('Secret', ref('id'))).toBe('AKIA')
    expect(read.get('Secret', ref('secret'))).toBe(' pä55 ')
    expect(read.fingerprint).not.toContain('AKIA')
  })

  test.each(['\n', '\r\n'])('lose the one line break that tools put at the end of a file: %j', async (lineBreak) => {
    const read = await inputs({ id: `AKIA${lineBreak}`, secret: `pass${lineBreak}` })
    if (read instanceof Error) throw read
    expect(read.get('Secret', ref('id'))).toBe('AKIA')
    expect(read.get('Secret', ref('secret'))).toBe('pass')
  })

  test('have the fingerprint of the value without the line break', async () => {
    const reads = await Promise.all(['pass', 'pass\n', 'pass\r\n'].map((secret) => inputs({ id: 'AKIA', secret })))
    const prints = reads.map((read) => (read instanceof Error ? String(read) : read.fingerprint))
    // As every version has computed it: stored statuses hold it.
    const text = JSON.stringify([
      ['Secret/aws/id', 'AKIA'],
      ['Secret/aws/secret', 'pass'],
    ])
    expect(new Set(prints)).toEqual(new Set([FINGERPRINTS.of('inputs', 'mine', text)]))
  })

  test.each(['pass\n\n', '\npass', 'pa\nss', 'pass\r', 'pa\tss', 'pass\0', 'pa\u0085ss', '\u001bpass'])(
    'with another control character are a problem of field, Secret and key, without the value: %j',
    async (secret) => {
      const read = await inputs({ id: 'AKIA', secret })
      if (read instanceof Error) throw read
      expect(read.problems).toEqual([
        'spec.kinesis.auth.accessKey.secretAccessKeySecretRef: key secret of Secret aws contains a control character, such as a line break or a tab: store a single line',
      ])
    },
  )

  test('that are PEM keep their lines', async () => {
    const { kube, client, answered } = world()
    const pem = '-----BEGIN CERTIFICATE-----\r\nAAAA\n-----END CERTIFICATE-----\n\n'
    kube.create(secretType, SECRET, { data: { pem: Buffer.from(pem).toString('base64') } })
    const authority = certificateAuthority as unknown as ManagedDescriptor
    const caPEMFrom = { secretKeyRef: ref('pem') }
    const read = await answered(
      readInputs({ kube: client, fingerprints: FINGERPRINTS }, authority, cr({}, {}, { caPEMFrom })),
    )
    expect(read.get('Secret', ref('pem'))).toBe(pem)
  })

  test('their fingerprint changes if and only if a value does', async () => {
    const data = fc.record({ id: fc.string({ maxLength: 3 }), secret: fc.string({ maxLength: 3 }) })
    await fc.assert(
      fc.asyncProperty(data, data, async (one, other) => {
        const [first, second] = [await inputs(one), await inputs({ ...other, unused: 'x' })]
        if (first instanceof Error || second instanceof Error) throw new Error('both exist')
        const equal = one.id === other.id && one.secret === other.secret
        expect(first.fingerprint === second.fingerprint).toBe(equal)
      }),
      { numRuns: 40 },
    )
  })

  test('two resources with the same secret cannot be told to have it', async () => {
    const [one, other] = [
      await inputs({ id: 'a', secret: 'b' }, 'one'),
      await inputs({ id: 'a', secret: 'b' }, 'other'),
    ]
    if (one instanceof Error || other instanceof Error) throw new Error('both exist')
    expect(one.fingerprint).not.toBe(other.fingerprint)
  })

  test('nobody without the salt can tell which of all PINs it is', async () => {
    const pin = '4711'
    const read = await inputs({ id: 'AKIA', secret: pin })
    if (read instanceof Error) throw read
    const values = (secret: string) => [
      ['Secret/aws/id', 'AKIA'],
      ['Secret/aws/secret', secret],
    ]
    const told = Array.from({ length: 10_000 }, (_, guess) => String(guess).padStart(4, '0')).filter((guess) => {
      const text = JSON.stringify(values(guess))
      return ['mine', '', read.fingerprint?.slice(0, 8) ?? ''].some((salt) => {
        return [text, JSON.stringify(['inputs', 'mine', text])].some((said) => {
          const digest = createHmac('sha256', salt).update(said).digest('hex')
          return read.fingerprint?.includes(digest.slice(0, 12))
        })
      })
    })
    expect(told).toEqual([])
    const other = await inputs({ id: 'AKIA', secret: pin }, 'mine', new Fingerprints(Buffer.alloc(32, 2)))
    if (other instanceof Error) throw other
    expect(compareFingerprints(read.fingerprint, other.fingerprint)).toBe('unknown')
  })

  test('a key that is missing is waited for by field, Secret and key, without any value', async () => {
    const error = await inputs({ id: 'AKIA' })
    expect(error).toMatchObject({ code: 'SecretMissing' })
    expect(String(error)).toMatch(/secretAccessKeySecretRef: Secret aws with key secret/)
    expect(String(error)).not.toContain('AKIA')
  })

  test('a resource without any has no fingerprint', async () => {
    const { client } = world()
    const without = cr(
      {},
      {},
      { type: 'Kinesis', kinesis: { streamARN: 'a', auth: { type: 'Role', role: { roleARN: 'b' } } } },
    )
    expect(
      (await readInputs({ kube: client, fingerprints: FINGERPRINTS }, descriptor, without)).fingerprint,
    ).toBeUndefined()
  })
})

describe('kept keys', () => {
  test('are written when they are new or changed, read by a later process, and forgotten', async () => {
    const { kube, client, writes, answered } = world()
    const keys = new KeptKeys(client, 'culvert-system')
    await answered(keys.keep('uid-1', 'key-1'))
    await answered(keys.keep('uid-1', 'key-1'))
    expect(writes).toEqual(['PATCH /api/v1/namespaces/culvert-system/secrets/culvert-key-uid-1'])
    await answered(keys.keep('uid-1', 'key-2'))
    const later = new KeptKeys(client, 'culvert-system')
    await answered(later.keep('uid-1', 'key-2'))
    expect(await answered(later.read('uid-1'))).toBe('key-2')
    expect(writes).toHaveLength(2)
    await answered(later.forget('uid-1'))
    expect(kube.list(secretType).items).toEqual([])
    expect(await answered(later.read('uid-1'))).toBeUndefined()
    await answered(later.forget('uid-1'))
  })

  test('are read again of an account that another operator worked on meanwhile', async () => {
    const { client, answered } = world()
    const [one, other] = [new KeptKeys(client, 'culvert-system'), new KeptKeys(client, 'culvert-system')]
    await answered(one.keep('uid-1', 'key-1'))
    one.readAgain('uid-1')
    await answered(other.keep('uid-1', 'key-2'))
    await answered(one.keep('uid-1', 'key-1'))
    expect(await answered(new KeptKeys(client, 'culvert-system').read('uid-1'))).toBe('key-1')
  })
})
