import { expect, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import { configMapType, secretType } from '../../../src/kube/core-types.ts'
import { outputIn } from '../../builders/output-of-spec.ts'
import type { Body, Drift } from '../../kinds/kind-test-data.ts'
import { collectionTests, type SpecCase, specsOf } from '../../kinds/lookup.ts'
import { CONFIG_MAP, EDIT_SEED, SECRET } from '../../kinds/shared/account.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Laboratory, NAMESPACE, type SimulatedWorld } from '../simulation/world.ts'

const NAME = 'subject'

/** A world at rest with one resource of the spec; no operator is left to repair anything. */
async function atRest(
  laboratory: Laboratory,
  { kind, spec, needs }: SpecCase,
): Promise<{ readonly world: SimulatedWorld; readonly oracle: Oracle; readonly path: string }> {
  const needed = needs(NAME)
  const world = laboratory.world({ kinds: new Set([kind, ...needed.map((need) => need.kind)]) })
  world.api.emulator.admin.seed(EDIT_SEED)
  const oracle = await Oracle.watch(world)
  for (const need of needed) world.apply(need.kind, need.name, need.spec)
  world.apply(kind, NAME, spec(NAME))
  expect(await oracle.untilRest()).toEqual([])
  await world.advance(1_000)
  world.down()
  expect(await oracle.unlikeDeclared()).toEqual([])
  const cr = world.get(kind, NAME)
  const place = cr && world.placeOf(cr)
  if (place === undefined) throw new Error(`${kind} has no object`)
  return { world, oracle, path: `${place.path}/${place.id}` }
}

/** Whether the judge reports it when another client sends that change. */
async function isToldOf(laboratory: Laboratory, subject: SpecCase, drift: Drift): Promise<boolean> {
  const { world, oracle, path } = await atRest(laboratory, subject)
  await world.api.ask('PATCH', `/${path}`, drift(await world.api.ask('GET', `/${path}`)))
  return (await oracle.unlikeDeclared()).some((problem) => problem.startsWith(`${subject.kind}/${NAME}: `))
}

test('the oracle reports every changed field of an object', { timeout: 300_000 }, async () => {
  const laboratory = await Laboratory.open()
  const untold: string[] = []
  for (const descriptor of kinds) {
    if (descriptor.role !== 'managed') continue
    const subjects = specsOf(descriptor.definition.kind)
    for (const { path: collection } of descriptor.identity.collections) {
      const own = subjects.filter(
        ({ spec }) => descriptor.identity.collectionOf(spec(NAME) as never).path === collection,
      )
      for (const [field, changes] of Object.entries(collectionTests(collection)?.drifts ?? {})) {
        let isTold = false
        for (const subject of own.toReversed()) {
          for (const change of changes) isTold ||= await isToldOf(laboratory, subject, change)
          if (isTold) break
        }
        if (!isTold) untold.push(`${collection}.${field}`)
      }
    }
  }
  expect(untold).toEqual([])
})

test('the oracle reports a rule too many, a missing rule, a wrong count and a rule with other texts', async () => {
  const laboratory = await Laboratory.open()
  const subject = specsOf('IPPolicy')[1] as SpecCase
  const changes: readonly ((world: SimulatedWorld, rule: Body, policy: string) => Promise<unknown>)[] = [
    (world, _rule, policy) =>
      world.api.ask('POST', '/ip_policy_rules', { ip_policy_id: policy, cidr: '203.0.113.0/24', action: 'allow' }),
    (world, { id }) => world.api.ask('DELETE', `/ip_policy_rules/${String(id)}`),
    (world, { id }) => world.api.ask('PATCH', `/ip_policy_rules/${String(id)}`, { description: 'changed by hand' }),
  ]
  for (const change of changes) {
    const { world, oracle, path } = await atRest(laboratory, subject)
    const [rule] = (await world.api.ask('GET', '/ip_policy_rules')).ip_policy_rules as readonly Body[]
    await change(world, rule as Body, path.split('/')[1] ?? '')
    expect(await oracle.unlikeDeclared()).toEqual([expect.stringContaining(`IPPolicy/${NAME}: rules is`)])
    const isMiscounted = (await oracle.judge()).some((problem) => problem.startsWith(`IPPolicy/${NAME} counts `))
    expect(isMiscounted).toBe(change !== changes[2])
  }
})

test('the oracle reports a different secret in a target and a different file in a Secret', async () => {
  const laboratory = await Laboratory.open()
  const titled = (kind: string, title: string): SpecCase => {
    return specsOf(kind).find((each) => each.title === title) as SpecCase
  }
  const destination = await atRest(laboratory, titled('EventDestination', 'monitor'))
  destination.world.putSecret('spec-inputs', { apiKey: 'key-2' })
  expect(await destination.oracle.unlikeDeclared()).toEqual([expect.stringContaining('target.monitor is')])

  const certificate = await atRest(laboratory, titled('SSHUserCertificate', 'full'))
  const name = outputIn(certificate.world.get('SSHUserCertificate', NAME)?.spec ?? {})?.name ?? ''
  const key = { namespace: NAMESPACE, name }
  certificate.world.server.patch(secretType, key, { data: { 'id-cert.pub': 'b3RoZXI=' } })
  expect(await certificate.oracle.unlikeDeclared()).toEqual([expect.stringContaining(`output ${name} is`)])
})

/** Removes everything that the resource's spec refers to; its object and theirs stay. */
function takeDependencies(world: SimulatedWorld): void {
  for (const cr of world.all().filter(({ metadata }) => metadata.name !== NAME)) {
    const { kind, metadata } = cr
    world.server.patch(
      world.typeOf(kind),
      { namespace: NAMESPACE, name: metadata.name },
      { metadata: { finalizers: [] } },
    )
    world.delete(kind, metadata.name)
  }
  world.deleteSecret(SECRET.name)
  world.kube.delete(configMapType, { namespace: NAMESPACE, name: CONFIG_MAP.name })
}

test('the oracle compares the rest of an object when what its spec refers to is gone', async () => {
  const laboratory = await Laboratory.open()
  const told: Record<string, readonly string[]> = {}
  const refersTo = /Refs?"|From"/
  const subjects = kinds.flatMap(({ definition: { kind }, role }) => {
    return role === 'managed'
      ? (specsOf(kind).findLast(({ spec }) => refersTo.test(JSON.stringify(spec(NAME)))) ?? [])
      : []
  })
  for (const subject of subjects) {
    const { world, oracle, path } = await atRest(laboratory, subject)
    takeDependencies(world)
    await world.api.ask('PATCH', `/${path}`, { description: 'changed by hand' })
    told[subject.kind] = (await oracle.unlikeDeclared()).map((problem) => problem.split(' is ')[0] ?? '')
  }
  expect(told).toEqual(Object.fromEntries(subjects.map(({ kind }) => [kind, [`${kind}/${NAME}: description`]])))
})

test('the oracle expects the known_hosts line of a host certificate that names its authority by id, too', async () => {
  const laboratory = await Laboratory.open()
  const subject = specsOf('SSHHostCertificate').find(({ title }) => title === 'full') as SpecCase
  const { world, oracle } = await atRest(laboratory, subject)
  const id = world.all().find(({ kind }) => kind === 'SSHCertificateAuthority')?.status?.id
  world.up()
  world.apply(subject.kind, NAME, { ...subject.spec(NAME), sshCertificateAuthorityRef: { id } })
  expect(await oracle.untilRest()).toEqual([])
  expect(await oracle.unlikeDeclared()).toEqual([])
  world.down()
})
