import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Resource } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

const certSeconds = 5
const day = 24 * 60 * 60

let world: World
beforeEach(async () => {
  world = await startWorld({ certSeconds })
})
afterEach(() => world.close())

interface Job {
  readonly error_code?: string | null
  readonly msg?: string | null
  readonly started_at?: string
  readonly retries_at?: string | null
}

interface Status {
  readonly renews_at: string | null
  readonly provisioning_job: Job | null
}

const path = 'reserved_domains'
const policy = { authority: 'letsencrypt', private_key_type: 'rsa' }
const reserve = (domain: string): Promise<Resource> =>
  world.api.create(path, { domain, certificate_management_policy: policy })
const domain = (id: string): Promise<Resource> => world.api.get(path, id)
const statusOf = (resource: Resource): Status => resource.certificate_management_status as Status
const jobOf = (resource: Resource): Job => {
  const job = statusOf(resource).provisioning_job
  if (job === null) throw new Error('nothing is being provisioned')
  return job
}
const seconds = (time: unknown): number => Date.parse(String(time)) / 1000
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** Advances the emulator's clock to the job's retry, and lets the retried job end. */
async function passRetry(id: string): Promise<Resource> {
  const { retries_at } = jobOf(await domain(id))
  const wait = seconds(retries_at) - (await world.admin.now()) / 1000
  await world.admin.advance(Math.max(0, wait) + certSeconds + 1)
  return domain(id)
}

test(stated('certificates.issued'), async () => {
  const created = await reserve(world.serviceDomain())
  expect(created.certificate).toBeNull()
  expect(jobOf(created).started_at).toMatch(rfc3339)
  expect(jobOf(created).error_code ?? null).toBeNull()

  await world.admin.advance(certSeconds + 1)
  const issued = await domain(created.id)
  expect(issued.certificate).toEqual({
    id: expect.stringMatching(/^cert_[0-9A-Za-z]{27}$/),
    uri: expect.stringMatching(/^http:\/\/.*cert_/),
  })
  expect(statusOf(issued).provisioning_job).toBeNull()
  expect(statusOf(issued).renews_at).toMatch(rfc3339)
  const validity = seconds(statusOf(issued).renews_at) - seconds(created.created_at)
  expect(Math.abs(validity - 60 * day)).toBeLessThan(60)
})

test('a certificate is not there before its time', async () => {
  const created = await reserve(world.serviceDomain())
  await world.admin.advance(certSeconds - 3)
  expect((await domain(created.id)).certificate).toBeNull()
})

test('a domain without a policy gets no certificate', async () => {
  const { id } = await world.api.create(path, { domain: world.serviceDomain() })
  await world.admin.advance(day)
  expect(await domain(id)).toMatchObject({ certificate: null, certificate_management_status: null })
})

test(stated('certificates.dns-error'), async () => {
  const created = await reserve(world.customDomain())
  await world.admin.advance(certSeconds + 1)
  const failed = await domain(created.id)
  const job = jobOf(failed)
  expect(failed.certificate).toBeNull()
  expect(job.error_code).toBe('DNS_ERROR')
  expect(job.msg).toContain(created.domain)
  expect(job.msg).toContain(created.cname_target)
  expect(job.msg).toMatch(/CNAME/)
  expect(job.started_at).toMatch(rfc3339)
  expect(job.retries_at).toMatch(rfc3339)
})

test(stated('certificates.retry-doubles'), async () => {
  const { id } = await reserve(world.customDomain())
  await world.admin.advance(certSeconds + 1)
  const waits: number[] = []
  let failedAt = seconds(jobOf(await domain(id)).started_at) + certSeconds
  for (let attempt = 0; attempt < 7; attempt += 1) {
    const retriesAt = seconds(jobOf(await domain(id)).retries_at)
    waits.push(retriesAt - failedAt)
    // A retry that fails does so at once.
    failedAt = retriesAt
    await passRetry(id)
  }
  expect(waits).toEqual([30, 60, 120, 240, 480, 600, 600])
})

test(stated('certificates.dns-corrected'), async () => {
  const { id, domain: name, cname_target } = await reserve(world.customDomain())
  await world.admin.advance(certSeconds + 1)
  expect(jobOf(await domain(id)).error_code).toBe('DNS_ERROR')
  await world.admin.addDnsRecord({ name: String(name), type: 'CNAME', value: String(cname_target) })
  const issued = await passRetry(id)
  expect(issued.certificate).not.toBeNull()
  expect(statusOf(issued).provisioning_job).toBeNull()
})

test('a CNAME to elsewhere does not count', async () => {
  const { id, domain: name } = await reserve(world.customDomain())
  await world.admin.addDnsRecord({ name: String(name), type: 'CNAME', value: 'elsewhere.example.net' })
  await world.admin.advance(certSeconds + 1)
  expect(jobOf(await domain(id)).error_code).toBe('DNS_ERROR')
})

test(stated('certificates.wildcard-needs-challenge'), async () => {
  const base = world.customDomain()
  const created = await reserve(`*.${base}`)
  await world.admin.addDnsRecord({ name: `*.${base}`, type: 'CNAME', value: String(created.cname_target) })
  await world.admin.advance(certSeconds + 1)
  const job = jobOf(await domain(created.id))
  expect(job.error_code).toBe('DNS_ERROR')
  expect(job.msg).toContain(`_acme-challenge.${base}`)
  await world.admin.addDnsRecord({
    name: `_acme-challenge.${base}`,
    type: 'CNAME',
    value: String(created.acme_challenge_cname_target),
  })
  expect((await passRetry(created.id)).certificate).not.toBeNull()
})

test(stated('certificates.renewal'), async () => {
  const { id } = await reserve(world.serviceDomain())
  await world.admin.advance(certSeconds + 1)
  const first = await domain(id)
  const until = seconds(statusOf(first).renews_at) - (await world.admin.now()) / 1000
  await world.admin.advance(until + 1)
  const renewing = await domain(id)
  expect(jobOf(renewing).error_code ?? null).toBeNull()
  expect(renewing.certificate).toEqual(first.certificate)
  await world.admin.advance(certSeconds + 1)
  const renewed = await domain(id)
  expect(statusOf(renewed).provisioning_job).toBeNull()
  expect((renewed.certificate as Resource).id).not.toBe((first.certificate as Resource).id)
  expect(seconds(statusOf(renewed).renews_at) - seconds(statusOf(first).renews_at)).toBeGreaterThan(59 * day)
})

test('a renewal that fails keeps the certificate in use', async () => {
  const { id, domain: name, cname_target } = await reserve(world.customDomain())
  await world.admin.addDnsRecord({ name: String(name), type: 'CNAME', value: String(cname_target) })
  await world.admin.advance(certSeconds + 1)
  const first = await domain(id)
  expect(first.certificate).not.toBeNull()
  await world.admin.clearDns()
  await world.admin.advance(60 * day + 2 * certSeconds)
  const failing = await domain(id)
  expect(jobOf(failing).error_code).toBe('DNS_ERROR')
  expect(failing.certificate).toEqual(first.certificate)
})

test(stated('certificates.internal-error'), async () => {
  await world.admin.failNextCertificates(1)
  const { id } = await reserve(world.serviceDomain())
  await world.admin.advance(certSeconds + 1)
  const failed = jobOf(await domain(id))
  expect(failed.error_code).toBe('INTERNAL_ERROR')
  expect(failed.retries_at).toMatch(rfc3339)
  const issued = await passRetry(id)
  expect(issued.certificate).not.toBeNull()
  expect(statusOf(issued).provisioning_job).toBeNull()
})
