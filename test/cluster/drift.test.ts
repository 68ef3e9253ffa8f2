import { expect, test } from 'vitest'
import type { Fields } from '../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../src/managed/descriptor/descriptor.ts'
import { anyObjects, desiredOf } from '../builders/kinds/desired.ts'
import { managedKindTests } from '../kinds/index.ts'
import type { Body, Drift } from '../kinds/kind-test-data.ts'
import { collectionTests, type SpecCase, specsOf } from '../kinds/lookup.ts'
import { applyAll, applyNeeds, managed, subjectsOf } from './support/cases.ts'
import { hasToken, openedBy, tokenOf } from './support/tokens.ts'
import { until } from './support/wait.ts'
import { World } from './support/world.ts'

/** A spec that says something about each of its fields. */
interface Subject {
  readonly kind: string
  readonly title: string
  readonly path: string
  /** API fields that an update for this spec may carry: those that it decides. */
  readonly fields: readonly string[]
  /** The same for any spec whose objects are in this collection. */
  readonly possible: readonly string[]
}

const tokenKinds = managed.filter(hasToken).map(({ definition }) => definition.kind)
const cases: readonly SpecCase[] = managed.flatMap(({ definition }) => specsOf(definition.kind).slice(1))
const subjects = cases.map(subjectOf)

function subjectOf({ kind, title, spec }: SpecCase): Subject {
  const descriptor = managed.find(({ definition }) => definition.kind === kind) as ManagedDescriptor
  const found = spec('x') as Parameters<typeof descriptor.identity.collectionOf>[0]
  const desire: Fields = {
    ...descriptor.fields.desire(desiredOf({ spec: found, objects: anyObjects }), undefined),
    ...(descriptor.identity.markedBy === 'metadata' ? { description: '', metadata: '' } : {}),
  }
  const possible = Object.keys(desire).filter((field) => !descriptor.fields.createOnly.includes(field))
  const decided = possible.filter((field) => desire[field] !== undefined)
  return { kind, title, path: descriptor.identity.collectionOf(found).path, fields: decided, possible }
}

/** One change of one object. */
interface Step {
  readonly kind: string
  readonly name: string
  readonly path: string
  readonly id: string
  readonly field: string
  readonly drift: Drift
}

async function pollAt(world: World, { path, id }: Pick<Step, 'path' | 'id'>): Promise<Body> {
  const { certificate, certificate_management_status: _, ...body } = (await world.api.get(`/${path}/${id}`)).body
  // Under a policy the certificate is the service's own business.
  return body.certificate_management_policy ? body : { ...body, certificate }
}

/** Sends the change as somebody else. @returns the fields that now differ. */
async function change(world: World, step: Step, before: Body): Promise<readonly string[]> {
  const body = step.drift(before)
  const answer = await world.api.patch(`/${step.path}/${step.id}`, { id: step.id, ...body })
  expect(answer.status, `${step.path} ${JSON.stringify(body)}: ${String(answer.body.msg)}`).toBe(200)
  expect(await pollAt(world, step), `${step.kind}/${step.name} ${JSON.stringify(body)}`).not.toEqual(before)
  return Object.keys(body)
}

test('every field that an update may carry has a change to try it with, and no other', () => {
  const known = managedKindTests.flatMap(({ collections }) => Object.keys(collections))
  const paths = new Set([...known, ...subjects.map(({ path }) => path)])
  for (const path of paths) {
    const { drifts, unchangeable } = collectionTests(path) ?? {}
    const tried = new Set([drifts, unchangeable].flatMap((fields) => Object.keys(fields ?? {})))
    const own = subjects.filter((subject) => subject.path === path)
    expect(tried, path).toEqual(new Set(own.flatMap(({ possible }) => possible)))
    // One of the specs decides the field, so that it can be put back.
    expect(tried, path).toEqual(new Set(own.flatMap(({ fields }) => fields)))
  }
})

test('a change of any field is reverted within one resync, reported by an Event and counted by field', {
  timeout: 300_000,
}, async () => {
  await using world = await World.open()
  await applyNeeds(world, cases, ['drift'])
  const manifests = subjectsOf(cases, 'drift')
  await applyAll(world, manifests)
  const steps: Step[][] = []
  for (const [index, { kind, path, fields }] of subjects.entries()) {
    const name = manifests[index]?.name ?? ''
    const id = (await world.ready(kind, name, 60_000)).status?.id ?? ''
    const own = fields.flatMap((field) =>
      (collectionTests(path)?.drifts[field] ?? []).map((drift) => ({ kind, name, path, id, field, drift })),
    )
    steps.push(own)
    for (const body of Object.values(collectionTests(path)?.unchangeable ?? {})) {
      expect((await world.api.patch(`/${path}/${id}`, { id, ...body })).status).toBe(400)
    }
  }
  // One change to each object in a pass.
  for (let round = 0; steps.some((own) => own.length > round); round++) {
    await putBack(
      world,
      steps.flatMap((own) => own[round] ?? []),
    )
  }
})

/** Makes the changes, and sees that one pass takes them back and says so. */
async function putBack(world: World, steps: readonly Step[]): Promise<void> {
  const before = await Promise.all(steps.map((step) => pollAt(world, step)))
  const counts = await driftCounts(world)
  const changed: (readonly string[])[] = []
  for (const [index, step] of steps.entries()) changed.push(await change(world, step, before[index] ?? {}))
  const mark = world.mark()
  await world.resync()
  for (const [index, step] of steps.entries()) {
    const about = `${step.kind}/${step.name} has its ${changed[index]?.join(' and ')} back`
    const same = async (): Promise<boolean> =>
      JSON.stringify(await pollAt(world, step)) === JSON.stringify(before[index])
    await until(about, same, { timeoutMs: 60_000, describe: async () => [before[index], await pollAt(world, step)] })
    const told = async (): Promise<boolean> =>
      (await toldDrifts(world, step)).includes(changed[index]?.join(', ') ?? '')
    await until(`${about}, told by an Event`, told, { describe: () => world.events(step.kind, step.name) })
  }
  for (const [index, { kind }] of steps.entries()) {
    for (const field of changed[index] ?? []) counts.set(`${kind} ${field}`, (counts.get(`${kind} ${field}`) ?? 0) + 1)
  }
  expect(await driftCounts(world)).toEqual(counts)
  const writes = world.writes(mark).map(({ method, path }) => `${method} ${path}`)
  expect(new Set(writes)).toEqual(new Set(steps.map(({ path, id }) => `PATCH /${path}/${id}`)))
  expect(writes).toHaveLength(steps.length)
}

/** The fields that Events about the resource say were put back. */
async function toldDrifts(world: World, { kind, name }: Pick<Step, 'kind' | 'name'>): Promise<readonly string[]> {
  const warnings = (await world.events(kind, name)).filter(({ reason, type }) => {
    return reason === 'DriftCorrected' && type === 'Warning'
  })
  return warnings.map(({ note }) => note.replace('changed outside Culvert, reverted: update ', ''))
}

/** How often each `Kind field` was found changed, as the metric says. */
async function driftCounts(world: World): Promise<Map<string, number>> {
  const line = /^culvert_drift_total\{kind="(\w+)",field="([\w.]+)"\} (\d+)$/gm
  const found = (await world.operator.metrics()).matchAll(line)
  return new Map([...found].map(([, kind, field, count]) => [`${kind} ${field}`, Number(count)]))
}

const rules = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((cidr) => ({ cidr, action: 'Allow' }))

/** Changes of a policy's rules behind its back, each with what the metric calls it. */
const ruleDrifts: readonly {
  readonly what: string
  readonly field: string
  make(world: World, rule: Body): Promise<unknown>
}[] = [
  {
    what: 'a changed description',
    field: 'rules.description',
    make: (world, { id }) => world.api.patch(`/ip_policy_rules/${id}`, { id, description: 'changed by hand' }),
  },
  {
    what: 'a changed metadata',
    field: 'rules.metadata',
    make: (world, { id }) => world.api.patch(`/ip_policy_rules/${id}`, { id, metadata: 'changed by hand' }),
  },
  {
    what: 'a changed range',
    field: 'rules',
    make: (world, { id }) => world.api.patch(`/ip_policy_rules/${id}`, { id, cidr: '0.0.0.0/0' }),
  },
  {
    what: 'another action',
    field: 'rules',
    make: async (world, { id, cidr, ip_policy }) => {
      await world.api.delete(`/ip_policy_rules/${id}`)
      await world.api.create('/ip_policy_rules', { ip_policy_id: (ip_policy as Body).id, cidr, action: 'deny' })
    },
  },
  { what: 'a missing rule', field: 'rules', make: (world, { id }) => world.api.delete(`/ip_policy_rules/${id}`) },
  {
    what: 'a rule too many',
    field: 'rules',
    make: (world, { ip_policy }) => {
      return world.api.create('/ip_policy_rules', {
        ip_policy_id: (ip_policy as Body).id,
        cidr: '0.0.0.0/0',
        action: 'allow',
      })
    },
  },
]

test('rules changed, removed or added by hand are corrected within one resync', async () => {
  await using world = await World.open()
  const meaning = async (): Promise<readonly string[]> => {
    const found = await world.remote('ip_policy_rules')
    const texts = found.map(({ ip_policy, cidr, action, description, metadata }) =>
      JSON.stringify([(ip_policy as Body).id, cidr, action, description, metadata]),
    )
    return texts.sort((a, b) => a.localeCompare(b))
  }
  for (const index of ruleDrifts.keys()) await world.apply('IPPolicy', `policy-${index}`, { rules })
  for (const index of ruleDrifts.keys()) await world.ready('IPPolicy', `policy-${index}`)
  const before = await meaning()
  for (const [index, { what, field, make }] of ruleDrifts.entries()) {
    const name = `policy-${index}`
    const { id } = (await world.get('IPPolicy', name))?.status ?? {}
    const rule = (await world.remote('ip_policy_rules')).find(({ ip_policy }) => (ip_policy as Body).id === id) ?? {}
    const counts = await driftCounts(world)
    await make(world, rule)
    expect(await meaning(), what).not.toEqual(before)
    await world.resync()
    const same = async (): Promise<boolean> => JSON.stringify(await meaning()) === JSON.stringify(before)
    await until(`${what} is repaired`, same, { describe: async () => [before, await meaning()] })
    const told = async (): Promise<boolean> => (await toldDrifts(world, { kind: 'IPPolicy', name })).length > 0
    await until(`${what} is reported`, told, { describe: () => world.events('IPPolicy', name) })
    const after = await driftCounts(world)
    const key = `IPPolicy ${field}`
    expect(after.get(key) ?? 0, what).toBeGreaterThan(counts.get(key) ?? 0)
    await world.ready('IPPolicy', name)
  }
})

test('an object deleted at the API is recreated within one resync', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  const minimal = managed.flatMap(({ definition }) => specsOf(definition.kind).slice(0, 1))
  await applyNeeds(world, minimal, ['deleted'])
  const manifests = subjectsOf(minimal, 'deleted')
  await applyAll(world, manifests)
  const lost = []
  for (const [index, { kind, name, spec }] of manifests.entries()) {
    const { path } = managed[index]?.identity.collectionOf(spec as never) ?? { path: '' }
    lost.push({ kind, name, path, id: (await world.ready(kind, name, 60_000)).status?.id ?? '' })
  }
  // No more than five objects in a pass.
  for (let from = 0; from < lost.length; from += 4) {
    const few = lost.slice(from, from + 4)
    const before = await Promise.all(few.map(({ path, id }) => world.api.get(`/${path}/${id}`)))
    for (const { path, id } of few) expect((await world.api.delete(`/${path}/${id}`)).status, path).toBe(204)
    const mark = world.mark()
    await world.resync()
    for (const [index, { kind, name, path, id }] of few.entries()) {
      const again = await world.until(
        kind,
        name,
        'has another object',
        ({ status }) => ![undefined, id].includes(status?.id),
      )
      await world.ready(kind, name)
      const { body } = await world.api.get(`/${path}/${again.status?.id}`)
      expect(essence(path, body)).toEqual(essence(path, before[index]?.body ?? {}))
      const told = await until('the loss is reported', async () => {
        return (await world.events(kind, name)).find(({ reason }) => reason === 'RemoteDeleted')
      })
      expect(told).toMatchObject({ type: 'Warning', note: expect.stringContaining(id) })
      expect((await driftCounts(world)).get(`${kind} deleted`)).toBe(1)
      if (tokenKinds.includes(kind)) expect(await openedBy(world, kind, await tokenOf(world, again))).toBe(body.id)
    }
    // Rules come with their policy, and by themselves; a bot gets its name when its id is stored.
    const alone = few.filter(({ path }) => path !== 'ip_policy_rules')
    const made = world.writes(mark).filter(({ method, path }) => {
      return path !== '/ip_policy_rules' && !(method === 'PATCH' && path.startsWith('/bot_users/'))
    })
    expect(new Set(made.map(({ method, path }) => `${method} ${path}`))).toEqual(
      new Set(alone.map(({ path }) => `POST /${path}`)),
    )
    expect(made).toHaveLength(alone.length)
  }
})

/** What an object has in common with one recreated from the same spec. */
function essence(path: string, { id, created_at: _at, metadata: _metadata, ...rest }: Body): Body {
  const common = Object.entries(rest).filter(([field]) => !collectionTests(path)?.madeAnew?.includes(field))
  return JSON.parse(JSON.stringify(Object.fromEntries(common)).replaceAll(String(id), 'its-id'))
}
