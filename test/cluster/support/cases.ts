import { expect } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import type { IPPolicyRuleSpec } from '../../../src/kinds/ip-policy-rule.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { type SpecCase, specsOf } from '../../kinds/lookup.ts'
import { CONFIG_MAP, SECRET, SEED } from '../../kinds/shared/account.ts'
import { expectLiveTokens, hasToken } from './tokens.ts'
import { typeOf, type World } from './world.ts'

/** Every kind whose CRs have remote objects. */
export const managed = kinds.filter((descriptor) => descriptor.role === 'managed')

/** The specs with this title, one of each managed kind. */
export function casesTitled(title: 'minimal' | 'full'): readonly SpecCase[] {
  return managed.flatMap(({ definition }) => specsOf(definition.kind).filter((entry) => entry.title === title))
}

/** The spec with `text` in a visible field of its object: bots have a name and no description. */
export function withText({ kind, spec }: Manifest, text: string): Record<string, unknown> {
  const bot = managed.some(({ definition, identity }) => definition.kind === kind && identity.markedBy === 'name')
  return { ...spec, [bot ? 'displayName' : 'description']: text }
}

/** The CRs of the cases, each with a name that starts with its kind. */
export function subjectsOf(cases: readonly SpecCase[], suffix: string): readonly Manifest[] {
  return cases.map(({ kind, title, spec }) => {
    const name = subjectName(kind, title, suffix)
    return { kind, name, spec: spec(name) }
  })
}

/** Paths of the collections in which the cases create objects, including their children's. */
export function collectionPaths(cases: readonly SpecCase[]): readonly string[] {
  const paths = cases.flatMap(({ kind, spec }) => {
    const descriptor = managed.find(({ definition }) => definition.kind === kind)
    if (descriptor === undefined) return []
    const { path } = descriptor.identity.collectionOf(spec('any'))
    return [path, ...(descriptor.children === undefined ? [] : [descriptor.children.collection.path])]
  })
  return [...new Set(paths)].map((path) => `/${path}`)
}

/**
 * Applies the dependencies of subjects with these suffixes, including Secrets and seeded objects, and waits until they
 * are Ready.
 */
export async function applyNeeds(world: World, cases: readonly SpecCase[], suffixes: readonly string[]): Promise<void> {
  world.emulator.admin.seed(SEED)
  await world.secret(SECRET.name, SECRET.values)
  await world.configMap(CONFIG_MAP.name, CONFIG_MAP.values)
  const needs = suffixes.flatMap((suffix) => {
    return cases.flatMap(({ kind, title, needs }) => needs(subjectName(kind, title, suffix)))
  })
  await applyAll(world, needs)
  await Promise.all(needs.map(({ kind, name }) => world.ready(kind, name, 60_000)))
}

export async function applyAll(world: World, manifests: readonly Manifest[]): Promise<void> {
  await Promise.all(manifests.map(({ kind, name, spec }) => world.apply(kind, name, spec)))
}

function subjectName(kind: string, title: string, suffix: string): string {
  return `${kind.toLowerCase()}-${title.replaceAll(/[^a-z]+/gi, '-').toLowerCase()}-${suffix}`
}

/** Path of a CR at the apiserver. */
export function pathOf({ namespace }: World, { kind, name }: Manifest): string {
  const { group, version, plural } = typeOf(kind)
  return `/apis/${group}/${version}/namespaces/${namespace}/${plural}/${name}`
}

/**
 * Checks the state at rest: every CR is Ready, its id names the account's only object for it, with the metadata of the
 * spec and, for a policy, each rule once; no other object was ever created, except `deleted` more of each kind (or the
 * numbers it gives by kind) and the `seeded` ones; and another resync changes nothing.
 */
export async function expectExactlyOneEach(
  world: World,
  deleted: number | ((kind: string) => number) = 0,
  seeded: readonly string[] = [],
): Promise<void> {
  for (const descriptor of managed) {
    const { kind } = descriptor.definition
    for (const { metadata } of await world.list(kind)) await world.ready(kind, metadata.name, 60_000)
  }
  await expectObjects(world, deleted, seeded)
  const mark = world.mark()
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  await expectObjects(world, deleted, seeded)
}

async function expectObjects(
  world: World,
  deleted: number | ((kind: string) => number),
  others: readonly string[],
): Promise<void> {
  const seeded: ReadonlySet<unknown> = new Set([
    ...others,
    world.journal()[0]?.keyId,
    ...Object.values(SEED.objects ?? {}).flatMap((objects) => objects.map(({ id }) => id)),
  ])
  for (const descriptor of managed) {
    const crs = await world.list(descriptor.definition.kind)
    const listed = (await Promise.all(descriptor.identity.collections.map(({ path }) => world.remote(path)))).flat()
    // Objects from before, such as the world's own key, belong to no resource.
    const objects = listed.filter(({ id }) => !seeded.has(id))
    const [found, known] = [objects.map(({ id }) => id), crs.map(({ status }) => status?.id)]
    // A rule may also be a policy's own: `expectRules` counts them all.
    const shared = managed.some(
      ({ children }) => children && descriptor.identity.collections.includes(children.collection),
    )
    if (shared) expect(found).toEqual(expect.arrayContaining(known))
    else expect(found.toSorted()).toEqual(known.toSorted())
    for (const { spec, status } of crs) {
      const object = objects.find(({ id }) => id === status?.id)
      if (spec.rawMetadata !== undefined) expect(object?.metadata).toBe(spec.rawMetadata)
      else if (spec.metadata !== undefined)
        expect(JSON.parse(String(object?.metadata))).toMatchObject(spec.metadata as object)
    }
    if (shared) continue
    const paths: readonly string[] = descriptor.identity.collections.map(({ path }) => `/${path}`)
    const made = world.journal().filter(({ method, path, status }) => {
      return method === 'POST' && status === 201 && paths.includes(path)
    })
    const { kind } = descriptor.definition
    const label = `objects ever made for ${kind}`
    const wanted = typeof deleted === 'number' ? crs.length + deleted : deleted(kind)
    // One whose token was lost with the answer was deleted, and another created.
    if (hasToken(descriptor)) expect(made.length, label).toBeGreaterThanOrEqual(wanted)
    else expect(made.length, label).toBe(wanted)
    await expectLiveTokens(world, descriptor)
  }
  await expectRules(world)
}

/** The account has the rules that policies declare and those with resources of their own, each once. */
export async function expectRules(world: World): Promise<void> {
  const rules = await world.remote('ip_policy_rules')
  const held = rules.map((rule) => `${(rule.ip_policy as { id: string }).id} ${rule.cidr} ${rule.action}`)
  const policies = await world.list('IPPolicy')
  const declared = policies.flatMap(({ spec, status }) => {
    const wanted = (spec.rules ?? []) as readonly { cidr: string; action: string }[]
    return wanted.map(({ cidr, action }) => `${status?.id} ${cidr} ${action.toLowerCase()}`)
  })
  const alone = (await world.list('IPPolicyRule')).map(({ spec }) => {
    const { ipPolicyRef, cidr, action } = spec as unknown as IPPolicyRuleSpec
    const policy = policies.find(({ metadata }) => metadata.name === ipPolicyRef.name)
    return `${policy?.status?.id} ${cidr} ${action.toLowerCase()}`
  })
  expect(held.toSorted()).toEqual([...declared, ...alone].toSorted())
}
