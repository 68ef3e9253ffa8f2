import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePublicKey } from '../../../src/emulator/ssh/public-key.ts'
import { SshReader, SshWriter } from '../../../src/emulator/ssh/wire.ts'

describe('the wire format of SSH', () => {
  it('reads back what was written', () => {
    const values = fc.record({
      string: fc.uint8Array({ maxLength: 300 }),
      text: fc.string({ unit: 'grapheme' }),
      uint32: fc.nat({ max: 0xffff_ffff }),
      uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      mpint: fc.bigInt({ min: 0n, max: 2n ** 300n }),
    })
    fc.assert(
      fc.property(values, ({ string, text, uint32, uint64, mpint }) => {
        const bytes = new SshWriter().string(string).string(text).uint32(uint32).uint64(uint64).mpint(mpint).bytes()
        const reader = new SshReader(bytes)
        expect(new Uint8Array(reader.string())).toEqual(string)
        expect(reader.text()).toBe(text)
        expect([reader.uint32(), reader.uint64(), reader.mpint()]).toEqual([uint32, uint64, mpint])
        expect(reader.atEnd).toBe(true)
      }),
    )
  })

  it.each([
    [0n, '00000000'],
    [0x7fn, '000000017f'],
    [0x80n, '000000020080'],
    [0x9a378f9b2e332a7n, '0000000809a378f9b2e332a7'],
  ])('writes the number %s as RFC 4251 shows it', (value, hex) => {
    expect(new SshWriter().mpint(value).bytes().toString('hex')).toBe(hex)
  })

  it.each(['0000', '00000002ff', '0000000180', '000000020001', '0000000100'])('refuses %s as a number', (hex) => {
    expect(() => new SshReader(Buffer.from(hex, 'hex')).mpint()).toThrow(
      expect.objectContaining({ code: 'SSH_WIRE_FORMAT' }),
    )
  })
})

/** The authorized-keys line of a key, from its JWK. */
function lineOf(key: KeyObject, comment = ''): string {
  const { kty, crv = '', n = '', e = '', x = '', y = '' } = key.export({ format: 'jwk' })
  const number = (text: string): bigint => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url')
  const blob = new SshWriter()
  let type = ''
  if (kty === 'RSA') {
    type = 'ssh-rsa'
    blob.string(type).mpint(number(e)).mpint(number(n))
  } else if (kty === 'EC') {
    const curve = `nistp${crv.slice(2)}`
    type = `ecdsa-sha2-${curve}`
    blob
      .string(type)
      .string(curve)
      .string(Buffer.concat([Buffer.of(4), bytes(x), bytes(y)]))
  } else {
    type = 'ssh-ed25519'
    blob.string(type).string(bytes(x))
  }
  return `${type} ${blob.bytes().toString('base64')}${comment}`
}

const ed25519 = generateKeyPairSync('ed25519').publicKey
const keys: readonly (readonly [string, string, KeyObject])[] = [
  ['ssh-rsa', 'rsa', generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey],
  ['ecdsa-sha2-nistp256', 'ecdsa', generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey],
  ['ecdsa-sha2-nistp384', 'ecdsa', generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey],
  ['ecdsa-sha2-nistp521', 'ecdsa', generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey],
  ['ssh-ed25519', 'ed25519', ed25519],
]

describe('a public key in authorized-keys format', () => {
  it.each(keys)('is read with type %s', (type, keyType, key) => {
    const line = lineOf(key)
    const parsed = parsePublicKey(line)
    expect(parsed).toMatchObject({ type, keyType, comment: '' })
    expect(parsed.blob.toString('base64')).toBe(line.split(' ')[1])
    expect(parsePublicKey(`${line}  me@host with words \n`)).toMatchObject({ comment: 'me@host with words' })
  })

  const line = lineOf(ed25519)
  const [, encoded = ''] = line.split(' ')
  const blob = Buffer.from(encoded, 'base64')
  const withBlob = (type: string, bytes: Uint8Array): string => `${type} ${Buffer.from(bytes).toString('base64')}`
  const smallRsa = new SshWriter()
    .string('ssh-rsa')
    .mpint(65537n)
    .mpint(2n ** 1023n - 1n)
  const evenRsa = new SshWriter()
    .string('ssh-rsa')
    .mpint(4n)
    .mpint(2n ** 2048n - 1n)
  const point = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)])
  const offCurve = new SshWriter().string('ecdsa-sha2-nistp256').string('nistp256').string(point)
  const renamed = new SshWriter().string('ssh-ed25520').string(blob.subarray(-32))
  const otherCurve = new SshWriter().string('ecdsa-sha2-nistp256').string('nistp384').string(point)

  it.each([
    ['nothing', ''],
    ['a type alone', 'ssh-ed25519'],
    ['the key alone', encoded],
    ['an unknown type', `ssh-dss ${encoded}`],
    ['a certificate', `ssh-ed25519-cert-v01@openssh.com ${encoded}`],
    ['options in front', `no-pty ${line}`],
    ['another type than in the blob', `ssh-rsa ${encoded}`],
    ['a blob that names another type and is the same otherwise', withBlob('ssh-ed25519', renamed.bytes())],
    ['no base64', `ssh-ed25519 ${encoded.slice(0, -2)}!!`],
    ['base64 cut short', `ssh-ed25519 ${encoded.slice(0, -1)}`],
    ['a blob cut short', withBlob('ssh-ed25519', blob.subarray(0, -1))],
    ['more behind the blob', withBlob('ssh-ed25519', Buffer.concat([blob, Buffer.of(0)]))],
    ['a second line', `${line} me\n${line} you`],
    ['an RSA key of 1023 bits', withBlob('ssh-rsa', smallRsa.bytes())],
    ['an RSA key with an even exponent', withBlob('ssh-rsa', evenRsa.bytes())],
    ['a point that is not on the curve', withBlob('ecdsa-sha2-nistp256', offCurve.bytes())],
    ['a curve other than that of the type', withBlob('ecdsa-sha2-nistp256', otherCurve.bytes())],
    ['a name that every object has', `constructor ${encoded}`],
  ])('is refused with %s', (_what, text) => {
    expect(() => parsePublicKey(text)).toThrow(expect.objectContaining({ code: 'SSH_PUBLIC_KEY' }))
  })
})
