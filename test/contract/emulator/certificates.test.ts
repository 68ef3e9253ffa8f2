import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { at, EmulatorClient } from '../../builders/emulator-client.ts'

const DAY = 86_400

let emulator: Emulator
let client: EmulatorClient
let admin: EmulatorClient

beforeEach(async () => {
  emulator = await startEmulator({ certSeconds: 5 })
  client = EmulatorClient.of(emulator)
  admin = new EmulatorClient(emulator.adminUrl, emulator.adminToken)
})

afterEach(() => emulator.close())

function reserve(domain: string): Promise<string> {
  return client.create('/reserved_domains', { domain, certificate_management_policy: { authority: 'letsencrypt' } })
}

async function statusOf(id: string): Promise<unknown> {
  return (await client.get(`/reserved_domains/${id}`)).body.certificate_management_status
}

async function certificateOf(id: string): Promise<unknown> {
  return at((await client.get(`/reserved_domains/${id}`)).body, 'certificate', 'id')
}

/** Seconds from the start of the job to its next retry. */
async function retryDistance(id: string): Promise<number> {
  const job = at(await statusOf(id), 'provisioning_job')
  return (Date.parse(String(at(job, 'retries_at'))) - Date.parse(String(at(job, 'started_at')))) / 1000
}

describe('certificate provisioning', () => {
  it('runs for the time set, then shows the certificate and a renewal two thirds into 90 days', async () => {
    const id = await reserve('app.tunnel.example')
    expect(await statusOf(id)).toMatchObject({ renews_at: null, provisioning_job: { retries_at: null } })
    expect(at(await statusOf(id), 'provisioning_job')).not.toHaveProperty('error_code')
    emulator.admin.advanceClock(5)
    const status = await statusOf(id)
    expect(at(status, 'provisioning_job')).toBeNull()
    expect(await certificateOf(id)).toMatch(/^cert_/)
    const untilRenewal = Date.parse(String(at(status, 'renews_at'))) - emulator.admin.now()
    expect(Math.round(untilRenewal / 1000 / DAY)).toBe(60)
  })

  it('finishes with real time alone', async () => {
    const quick = await startEmulator({ certSeconds: 0.05 })
    const other = EmulatorClient.of(quick)
    const id = await other.create('/reserved_domains', {
      domain: 'app.tunnel.example',
      certificate_management_policy: {},
    })
    await expect
      .poll(async () => at((await other.get(`/reserved_domains/${id}`)).body, 'certificate', 'id'))
      .toMatch(/^cert_/)
    await quick.close()
  })

  it('of a custom domain fails with DNS_ERROR naming the record, and is tried again after 30 s, doubling to 10 min', async () => {
    const id = await reserve('www.customer.org')
    emulator.admin.advanceClock(5)
    const target = (await client.get(`/reserved_domains/${id}`)).body.cname_target
    const job = at(await statusOf(id), 'provisioning_job')
    expect(job).toMatchObject({ error_code: 'DNS_ERROR' })
    expect(at(job, 'msg')).toContain(`CNAME record www.customer.org → ${String(target)}`)

    const distances = [await retryDistance(id)]
    for (let pause = 30; distances.length < 8; pause = Math.min(600, pause * 2)) {
      emulator.admin.advanceClock(pause)
      distances.push(await retryDistance(id))
    }
    const pauses = distances.slice(1).map((distance, index) => distance - (distances[index] ?? 0))
    expect(distances[0]).toBe(35)
    expect(pauses).toEqual([60, 120, 240, 480, 600, 600, 600])
  })

  it('succeeds at the next retry once the record is published', async () => {
    const id = await reserve('www.customer.org')
    emulator.admin.advanceClock(5)
    const target = (await client.get(`/reserved_domains/${id}`)).body.cname_target
    await admin.call('PUT', '/dns', { name: 'WWW.customer.org.', type: 'cname', value: `${String(target)}.` })
    expect(at(await statusOf(id), 'provisioning_job', 'error_code')).toBe('DNS_ERROR')
    emulator.admin.advanceClock(30)
    expect(at(await statusOf(id), 'provisioning_job')).toBeNull()
  })

  it('does not see a record that was published after the attempt was decided', async () => {
    const id = await reserve('www.customer.org')
    const target = (await client.get(`/reserved_domains/${id}`)).body.cname_target
    emulator.admin.advanceClock(10)
    emulator.admin.putDns({ name: 'www.customer.org', type: 'CNAME', value: String(target) })
    expect(at(await statusOf(id), 'provisioning_job', 'error_code')).toBe('DNS_ERROR')
  })

  it('of a custom wildcard needs the _acme-challenge record as well', async () => {
    const id = await reserve('*.customer.org')
    const { body } = await client.get(`/reserved_domains/${id}`)
    emulator.admin.putDns({ name: '*.customer.org', type: 'CNAME', value: String(body.cname_target) })
    emulator.admin.advanceClock(5)
    expect(at(await statusOf(id), 'provisioning_job', 'msg')).toContain('_acme-challenge.customer.org')
    emulator.admin.putDns({
      name: '_acme-challenge.customer.org',
      type: 'CNAME',
      value: String(body.acme_challenge_cname_target),
    })
    emulator.admin.advanceClock(30)
    expect(await certificateOf(id)).toMatch(/^cert_/)
  })

  it('is renewed at renews_at; the former certificate stays in use until then', async () => {
    const id = await reserve('app.tunnel.example')
    emulator.admin.advanceClock(5)
    const first = await certificateOf(id)
    emulator.admin.advanceClock(60 * DAY)
    expect(at(await statusOf(id), 'provisioning_job')).not.toBeNull()
    expect(await certificateOf(id)).toBe(first)
    emulator.admin.advanceClock(5)
    expect(at(await statusOf(id), 'provisioning_job')).toBeNull()
    expect(await certificateOf(id)).not.toBe(first)
  })

  it('shows a failing renewal next to the certificate that is still in use', async () => {
    const id = await reserve('www.customer.org')
    const target = (await client.get(`/reserved_domains/${id}`)).body.cname_target
    emulator.admin.putDns({ name: 'www.customer.org', type: 'CNAME', value: String(target) })
    emulator.admin.advanceClock(5)
    const certificate = await certificateOf(id)
    emulator.admin.deleteDns({ name: 'www.customer.org' })
    emulator.admin.advanceClock(61 * DAY)
    expect(at(await statusOf(id), 'provisioning_job', 'error_code')).toBe('DNS_ERROR')
    expect(await certificateOf(id)).toBe(certificate)
  })

  it('fails with INTERNAL_ERROR as often as a certificate fault says, then recovers', async () => {
    const fault = await admin.post('/faults', {
      type: 'certificate',
      domain: 'app.tunnel.example',
      errorCode: 'INTERNAL_ERROR',
      times: 2,
    })
    const id = await reserve('app.tunnel.example')
    const other = await reserve('other.tunnel.example')
    emulator.admin.advanceClock(5)
    expect(at(await statusOf(id), 'provisioning_job', 'error_code')).toBe('INTERNAL_ERROR')
    expect(at(await statusOf(other), 'provisioning_job')).toBeNull()
    emulator.admin.advanceClock(30)
    expect(at(await statusOf(id), 'provisioning_job', 'error_code')).toBe('INTERNAL_ERROR')
    emulator.admin.advanceClock(60)
    expect(at(await statusOf(id), 'provisioning_job')).toBeNull()
    expect((await admin.get(`/faults/${String(fault.body.id)}`)).body.hits).toBe(2)
  })

  it('keeps an automatic certificate while a changed policy is carried out, and starts nothing for the same one', async () => {
    const id = await reserve('app.tunnel.example')
    emulator.admin.advanceClock(5)
    const first = await certificateOf(id)
    await client.patch(`/reserved_domains/${id}`, { certificate_management_policy: { authority: 'letsencrypt' } })
    expect(at(await statusOf(id), 'provisioning_job')).toBeNull()
    await client.patch(`/reserved_domains/${id}`, { certificate_management_policy: { private_key_type: 'ecdsa' } })
    expect(at(await statusOf(id), 'provisioning_job')).not.toBeNull()
    expect(await certificateOf(id)).toBe(first)
  })

  it.each(['/reserved_domains', '/agent_ingresses'])(
    'of %s ends with the policy: nothing is issued later',
    async (path) => {
      const issued = (): number =>
        emulator.admin.snapshot().accounts[emulator.account]?.objects.tls_certificates?.length ?? 0
      const id = await client.create(path, { domain: 'app.tunnel.example', certificate_management_policy: {} })
      await client.patch(`${path}/${id}`, { certificate_management_policy: null })
      emulator.admin.advanceClock(100 * DAY)
      expect(issued()).toBe(0)
      await client.patch(`${path}/${id}`, { certificate_management_policy: {} })
      emulator.admin.advanceClock(5)
      expect(issued()).toBe(1)
    },
  )

  it('ends for a domain that is deleted in the middle', async () => {
    const id = await reserve('app.tunnel.example')
    await client.delete(`/reserved_domains/${id}`)
    emulator.admin.advanceClock(100 * DAY)
    expect((await client.get(`/reserved_domains/${id}`)).status).toBe(404)
    await reserve('app.tunnel.example')
  })
})
