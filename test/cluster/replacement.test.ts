import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { caPem, partnerCaPem } from '../builders/contract/ca-pem.ts'
import { until } from './support/wait.ts'
import { World } from './support/world.ts'

const edge = (...authorities: readonly string[]) => ({
  protocol: 'TLS',
  mutualTLS: { certificateAuthorityRefs: authorities.map((name) => ({ name })) },
})

/**
 * Every request that wrote an edge's `mutual_tls`, and every deletion of an authority, in the order of their answers.
 */
function told(entries: readonly JournalEntry[]): readonly string[] {
  return entries
    .filter(({ method, path }) => method !== 'GET' && /^\/(edges\/tls|certificate_authorities)/.test(path))
    .toSorted((left, right) => (left.answeredSeq ?? 0) - (right.answeredSeq ?? 0))
    .map(({ method, path, status }) => `${method} ${path} ${status}`)
}

/** What the journal says of each edge after each of its writes: the authorities it let in from then on. */
function authoritiesOverTime(entries: readonly JournalEntry[]): readonly unknown[] {
  return entries.flatMap(({ path, body }) => {
    const written = path.startsWith('/edges/tls') ? (body as { readonly mutual_tls?: unknown } | null) : null
    return written?.mutual_tls === undefined ? [] : [written.mutual_tls]
  })
}

async function replaced(world: World, name: string, before: string | undefined): Promise<string> {
  const cr = await world.until(
    'CertificateAuthority',
    name,
    'holds another object, and no former one',
    ({ status }) => {
      return status?.id !== undefined && status.id !== before && status.internal?.superseded === undefined
    },
  )
  return String(cr.status?.id)
}

test('a changed PEM creates a new authority, moves each edge with one write, and then deletes the old one', async () => {
  await using world = await World.open()
  await world.apply('CertificateAuthority', 'staff', { caPEM: caPem })
  await world.apply('CertificateAuthority', 'guests', { caPEM: caPem, rawMetadata: 'ours' })
  await world.apply('Edge', 'shop', edge('staff', 'guests'))
  await world.apply('Edge', 'console', edge('staff'))
  const [shop, desk] = [await world.ready('Edge', 'shop'), await world.ready('Edge', 'console')]
  const [staff, guests] = [
    await world.ready('CertificateAuthority', 'staff'),
    await world.ready('CertificateAuthority', 'guests'),
  ]
  const mark = world.mark()

  await world.apply('CertificateAuthority', 'staff', { caPEM: partnerCaPem })
  const id = await replaced(world, 'staff', staff.status?.id)
  await world.ready('CertificateAuthority', 'staff')

  const [first, ...rest] = told(world.journal(mark))
  expect(first).toBe('POST /certificate_authorities 201')
  expect(rest.at(-1)).toBe(`DELETE /certificate_authorities/${staff.status?.id} 204`)
  expect(rest.slice(0, -1).toSorted()).toEqual(
    [`PATCH /edges/tls/${shop.status?.id} 200`, `PATCH /edges/tls/${desk.status?.id} 200`].toSorted(),
  )
  const own = { enabled: true, certificate_authority_ids: [id] }
  const both = { enabled: true, certificate_authority_ids: [id, guests.status?.id] }
  const over = authoritiesOverTime(world.journal(mark))
  expect(over).toHaveLength(2)
  expect(over).toEqual(expect.arrayContaining([own, both]))
  expect((await world.remote('certificate_authorities')).map((each) => each.id).toSorted()).toEqual(
    [id, guests.status?.id].toSorted(),
  )
})

test('a changed PEM in a ConfigMap replaces the authority; an unusable one is reported and leaves it in place', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  await world.configMap('bundle', { ca: caPem })
  await world.apply('CertificateAuthority', 'staff', {
    caPEMFrom: { configMapKeyRef: { name: 'bundle', key: 'ca' } },
    metadata: { team: 'ours' },
  })
  await world.apply('Edge', 'shop', edge('staff'))
  await world.ready('Edge', 'shop')
  const { status } = await world.ready('CertificateAuthority', 'staff')

  const key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n'
  const mark = world.mark()
  await world.configMap('bundle', { ca: `${caPem}${key}` })
  const { message } = await world.reason('CertificateAuthority', 'staff', 'Synced', 'InvalidInput')
  expect(message).toMatch(/^spec\.caPEMFrom: holds a private key/)
  expect(message).not.toContain('c2VjcmV0')
  expect(world.writes(mark)).toEqual([])
  expect((await world.get('Edge', 'shop'))?.status?.conditions?.[0]).toMatchObject({
    type: 'Ready',
    status: 'True',
  })

  await world.configMap('bundle', { ca: partnerCaPem })
  const id = await replaced(world, 'staff', status?.id)
  expect(authoritiesOverTime(world.journal(mark))).toEqual([{ enabled: true, certificate_authority_ids: [id] }])
  expect(await world.remote('certificate_authorities')).toMatchObject([
    { id, metadata: expect.stringMatching(/^\{"culvert":\{[^{}]*\},"team":"ours"\}$/) },
  ])
})

test('the old authority stays while an unmanaged edge uses it, also after a crash', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  await world.apply('CertificateAuthority', 'staff', { caPEM: caPem })
  const { status } = await world.ready('CertificateAuthority', 'staff')
  const before = String(status?.id)
  const foreign = await world.api.create('/edges/tls', { mutual_tls: { certificate_authority_ids: [before] } })
  await world.apply('CertificateAuthority', 'staff', { caPEM: partnerCaPem })
  const cr = await world.until('CertificateAuthority', 'staff', 'keeps the old one', (each) => {
    return JSON.stringify(each.status?.internal?.superseded ?? []).includes(before)
  })
  await world.ready('CertificateAuthority', 'staff')
  await world.operator.kill()
  await world.startOperator()
  await world.resync()
  const held = async (): Promise<readonly unknown[]> =>
    (await world.remote('certificate_authorities')).map(({ id }) => id).toSorted()
  expect(await held()).toEqual([before, cr.status?.id].toSorted())

  await world.api.delete(`/edges/tls/${foreign}`)
  await world.annotate('CertificateAuthority', 'staff', { 'culvert.dev/reconcile-requested-at': 'now' })
  await until('the old one is gone', async () => (await held()).length === 1, { describe: held })
  expect(await held()).toEqual([cr.status?.id])
})
