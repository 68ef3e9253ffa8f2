import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DECIDED } from '../../src/emulator/choices/choices.ts'
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts'
import { create } from '../../src/emulator/objects/operations.ts'
import type { WriteContext } from '../../src/emulator/objects/write-context.ts'
import { sshCertificateAuthorities } from '../../src/emulator/resources/certificate-authorities.ts'
import { fingerprint, readCertificate } from '../builders/contract/read-certificate.ts'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { EmulatorClient } from '../builders/emulator-client.ts'
import { openSSH } from '../builders/openssh.ts'
import { stated } from './facts/rules/all.ts'

const path = '/ssh_certificate_authorities'
/** The part of an emulator that generating a key uses. */
const services = { choices: DECIDED } as WriteContext['services']

let emulator: Emulator
let client: EmulatorClient
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-ssh-keys-'))
  await start()
})

afterEach(async () => {
  await emulator.close()
  await rm(folder, { recursive: true })
})

async function start(): Promise<void> {
  emulator = await startEmulator({ data: join(folder, 'emulator.db'), apiKey: 'key' })
  client = EmulatorClient.of(emulator)
}

/** Stored keys of authorities, read without the API. */
function storedKeys(): readonly string[] {
  const account = emulator.admin.snapshot().accounts[emulator.account]
  return (account?.objects.ssh_certificate_authorities ?? []).map(({ private_key }) => String(private_key))
}

/** The fingerprints of a new certificate's signing key and of the key that the authority shows. */
async function signerOf(id: string): Promise<{ readonly signer: string; readonly shown: string }> {
  const sshKeygen = await openSSH('ssh-keygen')
  const { body } = await client.post('/ssh_user_certificates', {
    ssh_certificate_authority_id: id,
    public_key: sshKeys.ed25519,
  })
  const { public_key } = (await client.get(`${path}/${id}`)).body
  return {
    signer: readCertificate(sshKeygen, String(body.certificate)).authority,
    shown: fingerprint(sshKeygen, String(public_key)),
  }
}

test(stated('ssh-ca.private-key'), async () => {
  const destination = await client.create('/event_destinations', {
    format: 'json',
    target: { monitor: { api_key: 'k', monitortags: '', service: '', monitorsite: '' } },
  })
  await client.create('/event_subscriptions', {
    sources: ['created', 'updated'].map((change) => ({ type: `ssh_certificate_authority_${change}.v0` })),
    destination_ids: [destination],
  })
  const made = await client.post(path, { private_key_type: 'ecdsa' })
  const address = `${path}/${String(made.body.id)}`
  const answers = [
    made,
    await client.get(address),
    await client.get(path),
    await client.patch(address, { metadata: 'm' }),
  ]
  await client.post(path, { private_key: 'mine, sent by mistake' })
  const told = JSON.stringify([
    ...answers.map(({ body }) => body),
    emulator.admin.journal(),
    emulator.admin.deliveries(),
  ])
  expect(emulator.admin.deliveries()).toHaveLength(2)

  const [key = ''] = storedKeys()
  expect(key).toContain('PRIVATE KEY')
  const secret = key.split('\n')[1] ?? ''
  expect(secret).toHaveLength(64)
  expect(told).not.toContain(secret)
  expect(told).not.toContain('PRIVATE KEY')
  expect(told).not.toContain('sent by mistake')
  // The only address that shows it requires the admin token.
  expect((await fetch(`${emulator.adminUrl}/snapshot`)).status).toBe(401)
})

describe('the key of an authority', () => {
  test('survives a restart on the same data, and a restored snapshot', async () => {
    const id = await client.create(path, { private_key_type: 'ecdsa', elliptic_curve: 'P-521' })
    const before = await signerOf(id)
    expect(before.signer).toBe(before.shown)
    await emulator.close()
    await start()
    expect(await signerOf(id)).toEqual(before)
    const snapshot = emulator.admin.snapshot()
    await client.delete(`${path}/${id}`)
    emulator.admin.restore(snapshot)
    expect(await signerOf(id)).toEqual(before)
  })

  test('is made for seeds too, by the same rules', async () => {
    const seed = (body: { [field: string]: string }): readonly string[] =>
      emulator.admin.seed({ objects: { ssh_certificate_authorities: [body] } }).objects.ssh_certificate_authorities ??
      []
    const [id = ''] = seed({ private_key_type: 'ecdsa' })
    const { signer, shown } = await signerOf(id)
    expect(signer).toBe(shown)
    expect(() => seed({ elliptic_curve: 'P-384' })).toThrow('elliptic_curve')
  })

  test('is made while other requests go on', async () => {
    let pending = true
    const making = client.create(path, { private_key_type: 'rsa', key_size: 4096 }).finally(() => {
      pending = false
    })
    while (pending) await client.get('/ip_policies')
    await making
    const journal = emulator.admin.journal()
    const creation = journal.find(({ method }) => method === 'POST')
    const overtook = journal.filter(
      ({ seq, answeredSeq }) =>
        seq > (creation?.seq ?? 0) && answeredSeq !== null && answeredSeq < (creation?.answeredSeq ?? 0),
    )
    // One or two may have been in flight already.
    expect(overtook.length).toBeGreaterThan(2)
  })

  test('is not made for a create that is refused', async () => {
    let made = 0
    const counting = {
      ...sshCertificateAuthorities,
      beforeCreate: async () => {
        made += 1
        return {}
      },
    }
    for (const body of [{ colour: 'blue' }, { private_key_type: 'dsa' }, { key_size: 1024 }, { description: 7 }]) {
      await expect(create(counting, body, { services } as WriteContext)).rejects.toMatchObject({ name: 'RequestError' })
    }
    expect(made).toBe(0)
    const misfit = sshCertificateAuthorities.beforeCreate?.({
      private_key_type: null,
      elliptic_curve: 'P-256',
      key_size: null,
    })
    await expect(misfit).rejects.toMatchObject({ code: 'invalidField', details: { field: 'elliptic_curve' } })
  })

  test('is dropped when the emulator stops before it exists', async () => {
    const context = { services, store: { database: { isOpen: false } } } as WriteContext
    await expect(create(sshCertificateAuthorities, {}, context)).rejects.toMatchObject({ code: 'unavailable' })
  })
})
