import { expect, test } from 'vitest'
import { caPem, partnerCaPem } from '../../../builders/contract/ca-pem.ts'
import { ModelWorld } from '../../../builders/model-world.ts'

const PATH = 'certificate_authorities'

function condition(world: ModelWorld, type: string) {
  const cr = world.get('CertificateAuthority', 'staff')
  return cr?.status?.conditions?.find((each) => each.type === type)
}

async function inSync(world: ModelWorld): Promise<void> {
  await world.until('in sync', () => {
    const synced = condition(world, 'Synced')
    const { generation } = world.get('CertificateAuthority', 'staff')?.metadata ?? {}
    return synced?.status === 'True' && synced.observedGeneration === generation
  })
}

const posts = (world: ModelWorld): number => world.writes.filter((write) => write === `POST ${PATH}`).length

async function started(): Promise<ModelWorld> {
  const world = ModelWorld.start()
  world.apply('CertificateAuthority', 'staff', { caPEM: caPem })
  await inSync(world)
  return world
}

test('an API that takes a create and does not apply it is asked once, not with each try', async () => {
  const world = await started()
  world.account.altering = (body) => ({ ...body, ca_pem: 'something else' })
  world.apply('CertificateAuthority', 'staff', { caPEM: partnerCaPem })
  await world.until('told', () => condition(world, 'Synced')?.reason === 'Rejected')
  expect(condition(world, 'Synced')?.message).toContain('did not apply it: ca_pem still differs')
  await world.clock.advance(3_600_000)
  expect(posts(world)).toBe(2)
  expect(world.bugs).toEqual([])

  world.account.altering = undefined
  world.apply('CertificateAuthority', 'staff', { caPEM: partnerCaPem, description: 'once more' })
  await inSync(world)
  await world.clock.advance(120_000)
  expect(world.account.all().map(({ object }) => object.ca_pem)).toEqual([partnerCaPem])
})

test('a replacement that the API refuses leaves the old object in place, and is tried again when the spec changes', async () => {
  const world = await started()
  const { id } = world.account.list(PATH)[0] ?? {}
  world.apiFaults.push('refused')
  world.apply('CertificateAuthority', 'staff', { caPEM: partnerCaPem })
  await world.until('told', () => condition(world, 'Synced')?.reason === 'Rejected')
  expect(condition(world, 'Ready')).toMatchObject({ status: 'True' })
  expect(world.get('CertificateAuthority', 'staff')?.status?.id).toBe(id)
  world.apply('CertificateAuthority', 'staff', { caPEM: caPem })
  await inSync(world)
  expect(world.account.list(PATH)).toMatchObject([{ id, ca_pem: caPem }])
  expect(posts(world)).toBe(2)
})

test('a spec that changes back while the replacement is being found out about ends with one object', async () => {
  const world = await started()
  world.apiFaults.push('unsent')
  world.apply('CertificateAuthority', 'staff', { caPEM: partnerCaPem })
  await world.until('unknown', () => condition(world, 'Synced')?.reason === 'ApiError')
  world.apply('CertificateAuthority', 'staff', { caPEM: caPem })
  await inSync(world)
  await world.clock.advance(120_000)
  expect(world.account.list(PATH)).toMatchObject([{ ca_pem: caPem }])
  expect(world.get('CertificateAuthority', 'staff')?.metadata.annotations ?? {}).not.toHaveProperty([
    'internal.culvert.dev/create-attempt',
  ])
})

test('the old object goes only when the status names its successor', async () => {
  const world = await started()
  const from = world.writes.length
  world.apply('CertificateAuthority', 'staff', { caPEM: partnerCaPem })
  await world.until('one object', () => world.account.list(PATH).every(({ ca_pem }) => ca_pem === partnerCaPem))
  const written = world.writes.slice(from)
  const stored = written.indexOf('PATCH certificateauthorities/staff status')
  expect(stored).toBeGreaterThan(written.indexOf(`POST ${PATH}`))
  expect(written.indexOf(`DELETE ${PATH}`)).toBeGreaterThan(stored)
})
