import { execFileSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PinnedKeys, parsePrivateKey } from '../../../src/agent/keys.ts'
import { HOST_KEY_PATTERN, hostKeyOf, withoutPKCS8 } from '../../../src/ssh/key-formats.ts'
import { newKeyPair } from '../../../src/ssh/new-key.ts'
import { openSSH } from '../../builders/openssh.ts'

function newKey(): { line: string; blob: Buffer; text: string } {
  const text = newKeyPair().privateKey
  const key = parsePrivateKey(text)
  if (key === undefined) throw new Error('the key cannot be read')
  const blob = key.getPublicSSH()
  return { line: `${key.type} ${blob.toString('base64')}`, blob, text }
}

describe('pinned host keys', () => {
  test('admit those keys and no others, by their own algorithms', () => {
    const [pinned, other] = [newKey(), newKey()]
    const keys = PinnedKeys.parse([`${pinned.line} gateway@example\n`])
    if (typeof keys === 'string') throw new Error(keys)
    expect(keys.algorithms).toEqual(['ssh-ed25519'])
    expect(keys.has(pinned.blob)).toBe(true)
    expect(keys.has(other.blob)).toBe(false)
  })

  test('are read as ssh-keyscan prints them, with the host, several lines and comments', () => {
    const [pinned, other] = [newKey(), newKey()]
    const scanned = [
      `# ssh.example:22 SSH-2.0-x`,
      `[ssh.example]:2222 ${pinned.line}`,
      `|1|a=|b= ${other.line} x y`,
      '',
    ]
    const keys = PinnedKeys.parse([scanned.join('\n')])
    if (typeof keys === 'string') throw new Error(keys)
    expect([pinned, other].map(({ blob }) => keys.has(blob))).toEqual([true, true])
    for (const line of [`[ssh.example]:2222 ${pinned.line}`, pinned.line, `${pinned.line} gateway@example`]) {
      expect(new RegExp(HOST_KEY_PATTERN).test(line)).toBe(true)
      expect(hostKeyOf(line)).toBe(pinned.line)
    }
    // Such a key must never be trusted.
    for (const line of [`@revoked ssh.example ${pinned.line}`, `@revoked ${pinned.line}`]) {
      expect(PinnedKeys.parse([line])).toContain('is not a public key')
      expect(new RegExp(HOST_KEY_PATTERN).test(line)).toBe(false)
      expect(hostKeyOf(line)).toBeUndefined()
    }
  })

  test('are refused where they are no public keys, without showing a private one', () => {
    const secret = newKey().text
    expect(PinnedKeys.parse(['ssh-ed25519 nonsense'])).toContain('is not a public key')
    expect(PinnedKeys.parse([])).toBe('there is no host key')
    const refused = PinnedKeys.parse([secret])
    expect(refused).toContain('is not a public key')
    expect(refused).not.toContain(secret.split('\n')[2])
  })
})

test('a private key is read without a passphrase only', () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
  })
  expect(parsePrivateKey(privateKey)).toBeUndefined()
  expect(parsePrivateKey(newKey().line)).toBeUndefined()
  expect(parsePrivateKey(newKey().text)).toBeDefined()
})

describe('a private key in PKCS#8', () => {
  test.each([
    ['Ed25519', 'ssh-ed25519', ['-algorithm', 'ed25519']],
    ['ECDSA', 'ecdsa-sha2-nistp256', ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['RSA', 'ssh-rsa', ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048']],
  ] as const)('as openssl writes it is read: %s', (name, type, args) => {
    const text = execFileSync('openssl', ['genpkey', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    expect(text).toContain('-----BEGIN PRIVATE KEY-----')
    const key = parsePrivateKey(text)
    expect(key?.type).toBe(type)
    if (name !== 'Ed25519' || key === undefined) return
    const data = Buffer.from('data')
    const signature = key.sign(data)
    expect(signature instanceof Error ? signature : verify(null, data, createPublicKey(text), signature)).toBe(true)
  })

  test('whatever its bytes are, OpenSSH reads it too', async () => {
    // One key in 256 begins with a zero.
    const text = Array.from({ length: 4000 }, () => generateKeyPairSync('ed25519').privateKey).find((key) => {
      return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')[0] === 0
    })
    if (text === undefined) throw new Error('no key begins with a zero')
    const pem = text.export({ type: 'pkcs8', format: 'pem' }).toString()
    const key = parsePrivateKey(pem)
    const folder = mkdtempSync(join(tmpdir(), 'culvert-key-'))
    writeFileSync(join(folder, 'id'), withoutPKCS8(pem), { mode: 0o600 })
    const line = execFileSync(await openSSH('ssh-keygen'), ['-y', '-f', join(folder, 'id')], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect(line.trim()).toBe(`ssh-ed25519 ${key?.getPublicSSH().toString('base64')}`)
  })

  test('that is none is refused', () => {
    expect(parsePrivateKey('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n')).toBeUndefined()
  })
})
