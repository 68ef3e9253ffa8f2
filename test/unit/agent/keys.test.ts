import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { PinnedKeys, parsePrivateKey } from '../../../src/agent/keys.ts'
import { newKeyPair } from '../../../src/ssh/new-key.ts'

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
