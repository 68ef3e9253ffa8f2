import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal } from '../builders/contract/api-client.ts'
import { minimalBody, sampleOf } from '../builders/contract/samples.ts'
import { wrongValues } from '../builders/contract/shapes.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { allCollections, createFields } from './facts/all.ts'
import type { CollectionFact, FieldFact, Shape } from './facts/facts.ts'
import { allObjects, type ObjectFact, objectNamed } from './facts/objects.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

type Value = Readonly<Record<string, unknown>>
type Path = readonly (string | number)[]

/** Targets with the objects that no sample contains. */
const FURTHER: Readonly<Record<string, readonly unknown[]>> = {
  'event_destinations.target': [
    {
      firehose: {
        auth: { creds: { cloud_access_key_id: 'id', cloud_secret_access_key: 'secret' } },
        delivery_stream_arn: 'arn:stream',
      },
    },
    { cloudwatch_logs: { auth: { role: { role_arn: 'arn:role' } }, log_group_arn: 'arn:group' } },
  ],
}

/** An object of the contract in a field of a create body. */
interface Instance {
  readonly row: CollectionFact
  readonly field: FieldFact
  /** The field's value, and the object's place in it. */
  readonly value: unknown
  readonly path: Path
  readonly object: Value
}

function fieldsHolding(name: string): readonly (readonly [CollectionFact, FieldFact])[] {
  return allCollections.flatMap((row) =>
    createFields(row)
      .filter(({ sent }) => sent !== undefined && holds(sent.shape, name))
      .map((field) => [row, field] as const),
  )
}

function holds(shape: Shape, name: string): boolean {
  if (shape.kind === 'list' || shape.kind === 'map') return holds(shape.of, name)
  if (shape.kind !== 'object') return false
  return shape.object === name || objectNamed(shape.object).fields.some((member) => holds(member.shape, name))
}

/** The places of the objects of that name in a value of the shape. */
function* placesOf(shape: Shape, value: unknown, name: string, path: Path = []): Generator<Path> {
  if (value === undefined || value === null) return
  if (shape.kind === 'list') {
    for (const [index, item] of (value as readonly unknown[]).entries()) {
      yield* placesOf(shape.of, item, name, [...path, index])
    }
  }
  if (shape.kind !== 'object') return
  if (shape.object === name) yield path
  for (const member of objectNamed(shape.object).fields) {
    yield* placesOf(member.shape, (value as Value)[member.name], name, [...path, member.name])
  }
}

const at = (value: unknown, path: Path): unknown => path.reduce((found, step) => (found as never)[step], value)

function withAt(value: unknown, [step, ...rest]: Path, put: unknown): unknown {
  if (step === undefined) return put
  const below = withAt((value as never)[step], rest, put)
  return Array.isArray(value) ? value.with(Number(step), below) : { ...(value as Value), [step]: below }
}

async function instancesOf(name: string): Promise<readonly Instance[]> {
  const found: Instance[] = []
  for (const [row, field] of fieldsHolding(name)) {
    const samples = [await sampleOf(world, row, field, 'first'), await sampleOf(world, row, field, 'second')]
    for (const value of [...samples.map(({ sent }) => sent), ...(FURTHER[field.id] ?? [])]) {
      for (const path of placesOf(field.sent?.shape ?? { kind: 'boolean' }, value, name)) {
        found.push({ row, field, value, path, object: at(value, path) as Value })
      }
    }
  }
  return found
}

/**
 * One instance in each field that contains the object, with `member` set; if it is one of several alternatives, only
 * that.
 */
async function withMember(name: string, member: string): Promise<readonly Instance[]> {
  const instances = (await instancesOf(name)).filter(({ object }) => Object.hasOwn(object, member))
  const each = [...Map.groupBy(instances, ({ field }) => field.id).values()].flatMap(([first]) => first ?? [])
  expect(each, `a sample with ${name}.${member}`).not.toEqual([])
  return each
}

async function send({ row, field, value, path }: Instance, object: unknown) {
  const { body } = await minimalBody(world, row)
  // An edge's hostport is unique: the edges of earlier cases must not conflict.
  return world.api.call('POST', `/${row.path}`, { body: { ...body, [field.name]: withAt(value, path, object) } })
}

/** The object in the answer. */
const shownIn = ({ field, path }: Instance, text: string): Value =>
  at((JSON.parse(text) as Value)[field.sent?.shownAs ?? field.name], path) as Value

const sent = allObjects.filter(({ name }) => fieldsHolding(name).length > 0)

describe.each(sent)('$name', ({ name, fields }: ObjectFact) => {
  test.each(fields)('$name of another type is a 400 naming it', async ({ name: member, shape }) => {
    for (const instance of await withMember(name, member)) {
      for (const wrong of wrongValues(shape)) {
        expectRefusal(await send(instance, { ...instance.object, [member]: wrong }), 400, instance.field.name, member)
      }
    }
  })

  test.each(fields.filter(({ mandatory }) => mandatory))('$name is mandatory', async ({ name: member }) => {
    for (const instance of await withMember(name, member)) {
      const { [member]: _left, ...rest } = instance.object
      for (const object of [rest, { ...rest, [member]: null }]) {
        expectRefusal(await send(instance, object), 400, instance.field.name, member)
      }
    }
  })

  test.each(fields.filter(({ mandatory }) => !mandatory))('$name may be left out', async (fact) => {
    const { name: member, absent } = fact
    // An enabled module requires its reference, which is a rule of its own.
    const off = fields.some((each) => each.name === 'enabled') && member !== 'enabled' ? { enabled: false } : {}
    const instances = objectNamed(name).exactlyOne
      ? (await instancesOf(name)).filter(({ object }) => !Object.hasOwn(object, member))
      : await withMember(name, member)
    expect(instances).not.toEqual([])
    for (const instance of instances) {
      const { [member]: _left, ...rest } = instance.object
      const answer = await send(instance, { ...rest, ...off })
      expect(answer.status, answer.text).toBe(201)
      const shown = shownIn(instance, answer.text)
      if (absent !== undefined && Object.hasOwn(shown, member)) expect(shown[member]).toEqual(absent)
    }
  })

  test.each(fields.filter(({ secret }) => secret))('$name is null in every response', async ({ name: member }) => {
    for (const instance of await withMember(name, member)) {
      const answer = await send(instance, instance.object)
      expect(answer.status, answer.text).toBe(201)
      expect(shownIn(instance, answer.text)).toHaveProperty(member, null)
      const { id } = JSON.parse(answer.text) as { readonly id: string }
      const { text } = await world.api.call('GET', `/${instance.row.path}/${id}`)
      expect(shownIn(instance, text)).toHaveProperty(member, null)
    }
  })
})
