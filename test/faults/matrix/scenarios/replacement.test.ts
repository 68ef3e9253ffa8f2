import { expect, test } from 'vitest'
import { caPem, partnerCaPem } from '../../../builders/contract/ca-pem.ts'
import {
  begin,
  conditionOf,
  countOf,
  objectsIn,
  ready,
  reported,
  type Scene,
  until,
} from '../../simulation/scenario.ts'
import { faults, nextWrites, showing } from '../../simulation/shaped-answers.ts'

const PATH = 'certificate_authorities'
const KIND = 'CertificateAuthority'
const POST = `api POST /${PATH}`

async function started(): Promise<Scene & { readonly id: string; readonly told: (reason: string) => Promise<string> }> {
  const scene = await begin([KIND])
  const { world } = scene
  world.apply(KIND, 'staff', { caPEM: caPem })
  const id = await ready(world, KIND, 'staff')
  return { ...scene, id, told: (reason) => reported(world, () => world.get(KIND, 'staff'), 'Synced', reason) }
}

test('an API that takes a create and does not apply it is asked once, not with each try', async () => {
  const { world, oracle, writes, id, told } = await started()
  world.trouble = showing(PATH, (object) => (object.id === id ? object : { ...object, ca_pem: 'something else' }))
  world.apply(KIND, 'staff', { caPEM: partnerCaPem })
  expect(await told('Rejected')).toContain('did not apply ca_pem')
  await world.advance(3_600_000)
  expect(countOf(writes, POST)).toBe(2)
  expect(oracle.violations).toEqual([])

  world.calm()
  world.apply(KIND, 'staff', { caPEM: partnerCaPem, description: 'once more' })
  await ready(world, KIND, 'staff')
  await world.advance(120_000)
  expect((await objectsIn(world, PATH)).map((object) => object.ca_pem)).toEqual([partnerCaPem])
})

test('a replacement that the API refuses leaves the old object in place, and is tried again when the spec changes', async () => {
  const { world, writes, id, told } = await started()
  world.trouble = nextWrites(faults.refused)
  world.apply(KIND, 'staff', { caPEM: partnerCaPem })
  await told('Rejected')
  expect(conditionOf(world.get(KIND, 'staff'), 'Ready')).toMatchObject({ status: 'True' })
  expect(world.get(KIND, 'staff')?.status?.id).toBe(id)
  world.apply(KIND, 'staff', { caPEM: caPem })
  await ready(world, KIND, 'staff')
  expect(await objectsIn(world, PATH)).toMatchObject([{ id, ca_pem: caPem }])
  expect(countOf(writes, POST)).toBe(2)
})

test('a spec that changes back while the replacement is being found out about ends with one object', async () => {
  const { world, told } = await started()
  world.trouble = nextWrites(faults.unsent)
  world.apply(KIND, 'staff', { caPEM: partnerCaPem })
  await told('ApiError')
  world.apply(KIND, 'staff', { caPEM: caPem })
  await ready(world, KIND, 'staff')
  await world.advance(120_000)
  expect(await objectsIn(world, PATH)).toMatchObject([{ ca_pem: caPem }])
  expect(world.get(KIND, 'staff')?.metadata.annotations ?? {}).not.toHaveProperty([
    'internal.culvert.dev/create-attempt',
  ])
})

test('the old object goes only when the status names its successor', async () => {
  const { world, writes } = await started()
  const from = writes.length
  world.apply(KIND, 'staff', { caPEM: partnerCaPem })
  await until(world, 'one object', async () =>
    (await objectsIn(world, PATH)).every((each) => each.ca_pem === partnerCaPem),
  )
  const written = writes.slice(from)
  const stored = written.indexOf('kubernetes PATCH /certificateauthorities/staff/status')
  expect(stored).toBeGreaterThan(written.indexOf(POST))
  expect(written.indexOf(`api DELETE /${PATH}/{id}`)).toBeGreaterThan(stored)
})
