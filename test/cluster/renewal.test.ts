import { expect, test } from 'vitest'
import type { ReadCertificate } from '../builders/contract/read-certificate.ts'
import { CertificateLife, HOST, NAME, USER } from './support/certificate-life.ts'
import type { HeldOverTime } from './support/held-over-time.ts'
import { until } from './support/wait.ts'
import { conditionOf, type Resource } from './support/world.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const TWO_YEARS = 2 * 365 * DAY
const SAMPLE_EVERY = 10 * DAY
/** What a sample just before a renewal is ahead of it: reading it takes real time, which must not be up before. */
const JUST_BEFORE = MINUTE / 2

/** Renewed every 40 days. */
const user = { validFor: `${60 * 24}h`, renewBefore: `${20 * 24}h` }
/** Renewed every 61 days: not at the same time as the user's. */
const host = { validFor: `${90 * 24}h`, renewBefore: `${29 * 24}h` }
const paths = { [USER]: 'ssh_user_certificates', [HOST]: 'ssh_host_certificates' } as const
type Kind = keyof typeof paths

test('over two years the certificate held is valid at every moment, and a server and a client accept it', {
  timeout: 300_000,
  tags: 'nightly',
}, async () => {
  await using life = await CertificateLife.begin({ [USER]: user, [HOST]: host })
  const { clock, world } = life
  const began = await Promise.all([life.get(USER), life.get(HOST)])
  const end = clock.now() + TWO_YEARS
  let renewals = 0
  await life.sample()
  for (let next = clock.now() + SAMPLE_EVERY; clock.now() < end; ) {
    const { kind, at } = await nextRenewal(life)
    if (next < at - 2 * MINUTE) {
      await life.passTo(next)
      await expectAllWell(life)
      await life.sample()
      next += SAMPLE_EVERY
      continue
    }
    renewals += 1
    // One renewal finds another operator at work, and one none at all.
    if (renewals === 8) await life.restartOperator()
    if (renewals === 15) await renewAfterBeingAway(life, kind, at)
    else await renew(life, kind, at)
  }

  for (const { at, user, host, login } of await life.samples()) {
    expect(isValid(user, at) && isValid(host, at), new Date(at).toISOString()).toBe(true)
    expect(login, `${new Date(at).toISOString()} ${login.log}`).toMatchObject({ code: 0, stdout: 'let in\n' })
    expect(login.log).toContain(`Accepted certificate ID "${user.keyId}"`)
  }
  const issued = { [USER]: expectOneAfterTheOther(life, USER), [HOST]: expectOneAfterTheOther(life, HOST) }
  expect(issued[USER]).toBeGreaterThanOrEqual(18)
  expect(issued[HOST]).toBeGreaterThanOrEqual(12)
  await expectAlwaysValid(life, life.secret, issued[USER])
  await expectAlwaysValid(life, life.configMap, issued[HOST])
  // It was never anything but Ready.
  for (const cr of began) {
    expect(conditionOf(await life.get(cr.kind ?? ''), 'Ready')).toEqual(conditionOf(cr, 'Ready'))
    expect((await world.events(cr.kind ?? '', NAME)).filter(({ type }) => type === 'Warning')).toEqual([])
  }
  expect(life.operator.bugs).toEqual([])
})

test('the server and the client judge by the simulated time, to the second', { tags: 'nightly' }, async () => {
  await using life = await CertificateLife.begin({ [USER]: user, [HOST]: host })
  const [certificate, hostCertificate] = [await life.secret.now(), await life.configMap.now()]
  const { validAfter, validBefore } = life.read(certificate)
  const [after, before] = [Date.parse(validAfter), Date.parse(validBefore)]
  const attempt = (at: number) => life.login({ at, certificate, hostCertificate })
  for (const at of [after, before - 1000]) expect(await attempt(at)).toMatchObject({ code: 0, stdout: 'let in\n' })
  const expired = await attempt(before)
  expect(expired.code).toBe(255)
  expect(expired.log).toContain('Certificate invalid: expired')
  // A host whose certificate is older, so that it is not what is refused.
  const hostAfter = Date.parse(life.read(hostCertificate).validAfter)
  life.clock.leap(40 * DAY)
  const next = await until('the user has another', async () => {
    const held = await life.secret.now()
    return held === certificate ? undefined : held
  })
  const early = await life.login({ at: hostAfter, certificate: next, hostCertificate })
  expect(early.code).toBe(255)
  expect(early.log).toContain('Certificate invalid: not yet valid')
  // The client refuses the host for the same reason.
  const late = await attempt(Date.parse(life.read(hostCertificate).validBefore))
  expect(late.code).toBe(255)
  expect(late.stderr).toContain('Certificate invalid: expired')
})

for (const status of [500, 403]) {
  test(`a renewal answered with ${status} immediately shows in a condition, an Event and metrics, and stays Ready until expiry`, {
    tags: 'nightly',
  }, async () => {
    await using life = await CertificateLife.begin({ [USER]: user, [HOST]: host })
    const { clock, world } = life
    const { at } = await nextRenewal(life)
    const former = await life.get(USER)
    const validUntil = Date.parse(String(former.status?.validUntil))
    const match = { method: 'POST', path: `/${paths[USER]}`, every: true }
    const body = { error_code: 'ERR_1', status_code: status, msg: 'not today', details: {} }
    const fault = world.emulator.admin.addFault({ match, act: { type: 'status', status, body } })
    const metric = async (name: string) => (await life.operator.scrape())(name, USER, NAME)

    await life.passTo(at)
    const failing = await world.reason(USER, NAME, 'Renewed', 'RenewalFailing')
    expect(failing).toMatchObject({ status: 'False' })
    expect(failing.message).toContain('the current one remains valid until it expires')
    await until('an Event warns', async () => {
      return (await world.events(USER, NAME)).some((event) => {
        return event.reason === 'RenewalFailing' && event.type === 'Warning' && event.note === failing.message
      })
    })
    for (let day = 0; clock.now() + DAY < validUntil; day += 1) {
      const cr = await life.get(USER)
      expect(conditionOf(cr, 'Ready'), `day ${day}`).toEqual(conditionOf(former, 'Ready'))
      expect(conditionOf(cr, 'Renewed'), `day ${day}`).toMatchObject({ status: 'False', reason: 'RenewalFailing' })
      expect(cr.status?.id).toBe(former.status?.id)
      expect(await metric('culvert_renewal_failing')).toBe(1)
      expect(await metric('culvert_certificate_renewal_timestamp_seconds')).toBeLessThan(clock.now() / 1000)
      expect(await metric('culvert_certificate_expiry_timestamp_seconds')).toBe(validUntil / 1000)
      if (day % 5 === 0) await life.sample()
      clock.leap(DAY)
    }
    for (const { login } of await life.samples()) expect(login, login.log).toMatchObject({ code: 0 })
    expect((await world.remote(paths[USER])).map(({ id }) => id)).toEqual([former.status?.id])
    expect(world.emulator.admin.fault(fault.id).hits).toBeGreaterThan(5)

    clock.leapTo(validUntil)
    await world.reason(USER, NAME, 'Ready', 'Expired')
    const [certificate, hostCertificate] = [await life.secret.now(), await life.configMap.now()]
    const refused = await life.login({ at: clock.now(), certificate, hostCertificate })
    expect(refused.log).toContain('Certificate invalid: expired')

    world.emulator.admin.deleteFault(fault.id)
    clock.leap(10 * MINUTE)
    await world.until(USER, NAME, 'is renewed', (cr) => {
      return cr.status?.id !== former.status?.id && conditionOf(cr, 'Ready')?.status === 'True'
    })
    await until('the metric ends', async () => (await metric('culvert_renewal_failing')) === 0)
    const renewed = { certificate: await life.secret.now(), hostCertificate: await life.configMap.now() }
    expect(await life.login({ at: clock.now(), ...renewed })).toMatchObject({ code: 0 })
    expect(life.operator.bugs).toEqual([])
  })
}

/** The certificate whose renewal comes first, and when. */
async function nextRenewal(life: CertificateLife): Promise<{ readonly kind: Kind; readonly at: number }> {
  const kinds = [USER, HOST] as const
  const due = await Promise.all(
    kinds.map(async (kind) => ({ kind, at: Date.parse(String((await life.get(kind)).status?.renewsAt)) })),
  )
  return due.reduce((first, other) => (other.at < first.at ? other : first))
}

/** Goes through a renewal, with a sample just before and just after. */
async function renew(life: CertificateLife, kind: Kind, at: number): Promise<void> {
  await life.passTo(at - 2 * MINUTE)
  await life.passTo(at - JUST_BEFORE)
  const former = await life.get(kind)
  await life.sample()
  life.clock.leapTo(at)
  await renewed(life, kind, former)
}

/** No operator exists when the time comes; the one that starts days later renews at once. */
async function renewAfterBeingAway(life: CertificateLife, kind: Kind, at: number): Promise<void> {
  await life.quiet()
  const former = await life.get(kind)
  await life.restartOperator(async () => {
    life.clock.leapTo(at + 15 * DAY)
    await life.sample()
  })
  await renewed(life, kind, former)
}

async function renewed(life: CertificateLife, kind: Kind, former: Resource): Promise<void> {
  const settled = ({ status = {} }: Resource): boolean => {
    return status.id !== former.status?.id && status.internal?.superseded === undefined
  }
  const { status = {} } = await life.world.until(kind, NAME, 'is renewed', settled)
  expect(Date.parse(String(status.validAfter))).toBeGreaterThanOrEqual(renewalTime(former) - 1000)
  expect(Date.parse(String(status.validAfter))).toBeLessThan(Date.parse(String(former.status?.validUntil)))
  const place = kind === USER ? life.secret : life.configMap
  await until('it is held', async () => (await place.now()) === `${status.certificate}\n`)
  await life.sample()
  // The other one may be renewed as well, after a time without an operator.
  await life.quiet()
  await expectAllWell(life)
}

function renewalTime({ status }: Resource): number {
  return Date.parse(String(status?.renewsAt))
}

/** One object each, which the status names; nothing fails, and the metrics say so. */
async function expectAllWell(life: CertificateLife): Promise<void> {
  const metric = await life.operator.scrape()
  for (const kind of [USER, HOST] as const) {
    const cr = await life.get(kind)
    expect((await life.world.remote(paths[kind])).map(({ id }) => id)).toEqual([cr.status?.id])
    for (const type of ['Ready', 'Synced', 'Renewed']) expect(conditionOf(cr, type)).toMatchObject({ status: 'True' })
    expect(metric('culvert_renewal_failing', kind, NAME)).toBe(0)
    const expiry = Date.parse(String(cr.status?.validUntil)) / 1000
    expect(metric('culvert_certificate_expiry_timestamp_seconds', kind, NAME)).toBe(expiry)
  }
}

/** Each text that was held was a certificate that was valid from when it was until the next took its place. */
async function expectAlwaysValid(life: CertificateLife, place: HeldOverTime, count: number): Promise<void> {
  const history = await place.history()
  expect(history).toHaveLength(count)
  for (const [index, { text, since }] of history.entries()) {
    const certificate = life.read(text)
    const until = history[index + 1]?.since ?? life.clock.now()
    expect([isValid(certificate, since), isValid(certificate, until)], certificate.keyId).toEqual([true, true])
  }
}

/**
 * By the API's own journal: each new object is followed by the end of the former one, before there is another.
 * @returns how many there were.
 */
function expectOneAfterTheOther({ world }: CertificateLife, kind: Kind): number {
  const writes = world.writes().filter(({ path }) => path.startsWith(`/${paths[kind]}`))
  const created = writes.filter(({ method }) => method === 'POST').map(({ responseId }) => responseId)
  const expected = created.slice(1).flatMap((_, index) => ['POST 201', `DELETE ${created[index]} 204`])
  const told = writes.map(({ method, path, status }) => {
    return method === 'POST' ? `POST ${status}` : `${method} ${path.split('/').at(-1)} ${status}`
  })
  expect(told).toEqual(['POST 201', ...expected])
  return created.length
}

function isValid({ validAfter, validBefore }: ReadCertificate, at: number): boolean {
  return Date.parse(validAfter) <= at && at < Date.parse(validBefore)
}
