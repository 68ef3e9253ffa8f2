import { expect, test } from 'vitest'
import type { JournalEntry } from '../../../src/emulator/http/journal.ts'
import { isFixedFieldRule } from '../../../src/schema/rules.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { at } from '../../builders/emulator-client.ts'
import { childrenOf } from '../../builders/schema-rules.ts'
import { CaseList } from '../../faults/support/case-list.ts'
import type { Edit } from '../../kinds/kind-test-data.ts'
import { editStories, type KindEditStory, namedResources } from '../../kinds/lookup.ts'
import { CONFIG_MAP, EDIT_SEED, SECRET } from '../../kinds/shared/account.ts'
import { applyAll, managed } from '../support/cases.ts'
import { until } from '../support/wait.ts'
import { type Resource, World } from '../support/world.ts'

type Body = Record<string, unknown>

/** Fields of every kind that are no part of the object; each has tests of its own. */
const COMMON: ReadonlySet<string> = new Set([
  'accountRef',
  'allowedReferences',
  'deletionPolicy',
  'externalID',
  'managementPolicy',
])
/** Members of a union that a fixed field chooses. */
const CHOSEN: ReadonlySet<string> = new Set(['tunnelGroup', 'httpResponse', 'weighted', 'failover'])

const schemas = managed.map(({ definition }) => ({
  kind: definition.kind,
  schema: toStructural(definition.spec, 'spec'),
}))

/** The specs of a story, one after the other. */
function specsOf({ base, edits }: KindEditStory): readonly Body[] {
  let spec: Body = { ...base }
  const later = edits.map((edit) => {
    spec = Object.fromEntries(Object.entries({ ...spec, ...edit.spec }).filter(([, value]) => value !== undefined))
    return spec
  })
  return [{ ...base }, ...later]
}

test.each(schemas)('a story sets, changes and removes each changeable field of $kind', ({ kind, schema }) => {
  const seen = new Set<string>()
  for (const specs of editStories.filter((each) => each.kind === kind).map(specsOf)) {
    for (const [index, spec] of specs.slice(1).entries()) {
      const [before, after] = [placesOf(schema, specs[index]), placesOf(schema, spec)]
      for (const path of new Set([...before.keys(), ...after.keys()])) {
        const [was, is] = [before.get(path), after.get(path)]
        if (was === is) continue
        seen.add(`${path} changes`)
        seen.add(`${path} is ${was === undefined ? 'set' : is === undefined ? 'taken out' : 'given another value'}`)
      }
    }
  }
  expect(wanted(schema).filter((what) => !seen.has(what))).toEqual([])
})

/** What the value holds, by path; a reference is one value. */
function placesOf(schema: SchemaNode, value: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const visit = (node: SchemaNode, each: unknown, path: string): void => {
    found.set(path, `${found.get(path) ?? ''} ${JSON.stringify(each)}`)
    if (isReference(node)) return
    for (const [child, below, place] of childrenOf(node, each, path)) visit(child, below, place)
  }
  visit(schema, value, 'spec')
  return found
}

function wanted(schema: SchemaNode): readonly string[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  const changing = Object.entries(schema.properties ?? {}).filter(([name]) => {
    return !(COMMON.has(name) || rules.some(({ rule }) => isFixedFieldRule(rule, name)))
  })
  return changing.flatMap(([name, node]) => {
    const optional = !(schema.required?.includes(name) || CHOSEN.has(name))
    return wantedBelow(node, `spec.${name}`, optional)
  })
}

/** Inside of a list it is enough that the field changes somehow: the list is one value. */
function wantedBelow(node: SchemaNode, path: string, optional: boolean): readonly string[] {
  const oneValue = node.enum?.length === 1
  const own = optional
    ? [`${path} is set`, `${path} is taken out`, ...(oneValue ? [] : [`${path} is given another value`])]
    : [`${path} changes`]
  const listed = path.includes('[]')
  const fields = isReference(node)
    ? []
    : Object.entries(node.properties ?? {}).filter(([name]) => !isPartOfName(node, name))
  const below = fields.flatMap(([name, child]) => {
    return wantedBelow(child, `${path}.${name}`, !(listed || node.required?.includes(name)))
  })
  const items = node.items === undefined ? [] : wantedBelow(node.items, `${path}[]`, false)
  return [...own, ...below, ...items]
}

/** The namespace of what a reference names, which stories cannot edit: they live in one. */
function isPartOfName({ properties }: SchemaNode, field: string): boolean {
  return field === 'namespace' && properties?.name !== undefined
}

function isReference({ properties }: SchemaNode): boolean {
  const names = Object.keys(properties ?? {}).filter((name) => name !== 'namespace')
  return names.length === 2 && names.includes('name') && (names.includes('id') || names.includes('key'))
}

/** Every edit of every story is a case: from one spec to the next, on a real kube-apiserver. */
const list = new CaseList('transitions', 'real', { least: editStories.flatMap(({ edits }) => edits).length })

test('every edit of every kind is one PATCH of the edited fields, another object, or nothing', {
  timeout: 300_000,
}, async () => {
  await using world = await World.open()
  world.emulator.admin.seed(EDIT_SEED)
  await world.secret(SECRET.name, SECRET.values)
  await world.configMap(CONFIG_MAP.name, CONFIG_MAP.values)
  const before = await objectIds(world)
  await applyAll(world, namedResources)
  const needed = await Promise.all(namedResources.map(({ kind, name }) => world.ready(kind, name, 60_000)))
  const ids = new Map(needed.map(({ kind, metadata, status }) => [`${kind}/${metadata.name}`, String(status?.id)]))
  await Promise.all(editStories.map((story) => live(world, story, (kind, name) => ids.get(`${kind}/${name}`) ?? '')))
  const crs = await Promise.all(managed.map(({ definition }) => world.list(definition.kind)))
  const left = [...(await objectIds(world))].filter((id) => !before.has(id))
  expect(new Set(left)).toEqual(new Set(crs.flat().flatMap(({ status }) => [status?.id, ...ruleIds(status)])))
  await list.end()
})

/** Ids of everything in the account that CRs can stand for. */
async function objectIds(world: World): Promise<ReadonlySet<unknown>> {
  const paths = new Set(managed.flatMap(({ identity: { collections } }) => collections.map(({ path }) => path)))
  const objects = await Promise.all([...paths].map((path) => world.remote(path)))
  return new Set(objects.flat().map(({ id }) => id))
}

/** Rules that a policy has beside those with resources of their own. */
function ruleIds(status: Resource['status']): readonly unknown[] {
  return ((status?.rules ?? []) as readonly Body[]).map(({ id }) => id)
}

type IdOf = (kind: string, name: string) => string

/** Lives through a story, and looks after each edit. */
async function live(world: World, story: KindEditStory, id: IdOf): Promise<void> {
  const { kind, title } = story
  const name = `edited-${title}`
  const [base, ...specs] = specsOf(story)
  const descriptor = managed.find(({ definition }) => definition.kind === kind)
  const path = descriptor?.identity.collectionOf(base as never).path ?? ''
  await world.apply(kind, name, base ?? {})
  let cr = await world.ready(kind, name, 60_000)
  let object = await objectOf(world, path, cr)
  for (const [index, edit] of story.edits.entries()) {
    const about = `${kind}/${name} edit ${index + 1} ${JSON.stringify(edit.spec).slice(0, 200)}`
    const mark = world.mark()
    const before = String(cr.status?.id)
    await world.apply(kind, name, specs[index] ?? {})
    cr = await world.ready(kind, name, 60_000)
    const expected = { ...object, ...edit.object?.(id) }
    if (edit.sends === 'another object') {
      expect(cr.status?.id, about).not.toBe(before)
      await until(`${about}: the former object is gone`, async () => {
        return (await world.api.get(`/${path}/${before}`)).status === 404
      })
      expect(updates(world, path, before, mark), about).toEqual([])
      const { id: current, uri, createdAt } = cr.status ?? {}
      const { metadata = expect.stringContaining('"culvert"') } = specs[index] ?? {}
      Object.assign(expected, { id: current, uri, created_at: createdAt, metadata })
    } else {
      expect(cr.status?.id, about).toBe(before)
      expect(updates(world, path, before, mark), about).toEqual(edit.sends.length === 0 ? [] : [edit.sends])
    }
    object = await objectOf(world, path, cr)
    expect(object, about).toEqual(expected)
    if (edit.rules !== undefined) await expectRules(world, object, edit.rules, about)
    list.passed({ write: `${kind}/${name}`, point: `edit ${index + 1}`, fault: 'none' })
  }
}

/** Fields of each PATCH of the object since then, `id` aside: every update body carries it. */
function updates(world: World, path: string, id: string, since: number): readonly (readonly string[])[] {
  const own = world.writes(since).filter((entry) => entry.path === `/${path}/${id}` && entry.method === 'PATCH')
  return own.map(({ body }: JournalEntry) => Object.keys(body as Body).filter((field) => field !== 'id'))
}

async function objectOf(world: World, path: string, { status }: Resource): Promise<Body> {
  return (await world.api.get(`/${path}/${status?.id}`)).body
}

async function expectRules(
  world: World,
  { id }: Body,
  expected: NonNullable<Edit['rules']>,
  about: string,
): Promise<void> {
  const held = (await world.remote('ip_policy_rules')).filter((rule) => at(rule, 'ip_policy', 'id') === id)
  const shown = held.map(({ cidr, action, description, metadata }) => ({ cidr, action, description, metadata }))
  expect(shown, about).toHaveLength(expected.length)
  expect(shown, about).toEqual(expect.arrayContaining([...expected]))
}
