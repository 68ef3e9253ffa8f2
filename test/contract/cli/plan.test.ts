import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Plan } from '../../../src/cli/plan/make-plan.ts'
import type { SeedSpec } from '../../../src/emulator/admin/seed.ts'
import { ALTERNATIVES, type Choices, DECIDED, withAlternative } from '../../../src/emulator/choices/choices.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { CommonSpec } from '../../../src/managed/descriptor/common.ts'
import type { WriteReport } from '../../../src/telemetry/write-origin.ts'
import { startWorld, type World } from '../../builders/contract/world.ts'
import { anySpecOf } from '../../builders/kinds/any-spec.ts'
import { type BareManifest, manifestsOf, Planning } from '../../builders/planning.ts'
import { mixOf } from '../../faults/simulation/world.ts'
import { managedKindTests } from '../../kinds/index.ts'
import { editStories, type KindEditStory, namedResources, specsOf, UNNAMED_SEED } from '../../kinds/lookup.ts'
import { EDIT_SEED, SEED } from '../../kinds/shared/account.ts'

let world: World
let planning: Planning

beforeAll(async () => {
  world = await startWorld({ certSeconds: 1 })
  await world.admin.seed(SEED)
  planning = new Planning(world)
})

afterAll(async () => {
  await planning.close()
  await world.close()
})

const METHODS = { POST: 'create', PATCH: 'update', DELETE: 'delete' } as const

/** What the plan says would be sent, request by request. */
function planned({ operations }: Plan): readonly string[] {
  return operations.map(({ action, collection, resource: { kind, name } }) => `${action} ${collection} ${kind}/${name}`)
}

/** What was sent. */
function sent(writes: readonly WriteReport[]): readonly string[] {
  return writes.map(({ method, collection, origin }) => {
    const { kind, name } = origin?.resource ?? { kind: 'nobody', name: '' }
    return `${METHODS[method]} ${collection} ${kind}/${name}`
  })
}

const cases = managedKindTests.flatMap(({ kind }) => specsOf(kind))

describe('a plan, without a cluster', () => {
  test.each(cases)(
    'of a $kind ($title) is what is then sent, and empty afterwards',
    async ({ kind, title, spec, needs }) => {
      const name = resourceName(kind, title)
      const manifests = manifestsOf([...needs(name), { kind, name, spec: spec(name) }])
      const plan = await planning.plan(manifests)
      expect(plan.unplanned).toEqual([])
      expect(planned(plan)).not.toEqual([])

      const writes = await planning.apply(manifests)
      expect(sent(writes)).toEqual(planned(plan))
      expect(writes.map(({ outcome }) => outcome)).toEqual(writes.map(() => 'done'))

      const after = await planning.plan(manifests)
      expect(after.unplanned).toEqual([])
      expect(after.operations).toEqual([])
    },
  )
})

test('a plan marks the removal of the last rule that allows anything as opening, inline and as a resource of its own', async () => {
  const marksOf = async (manifests: readonly BareManifest[]): Promise<readonly string[]> => {
    const { operations } = await planning.plan(manifestsOf(manifests))
    return operations.flatMap(({ marks }) => marks.map(({ type, text }) => `${type}: ${text}`))
  }
  const LOST = (cidr: string): string =>
    `opened: the policy allows nothing any more without ${cidr}: a service may then let in everybody`
  const inline = (rules: readonly object[]): BareManifest => ({ kind: 'IPPolicy', name: 'guarded', spec: { rules } })
  const parts = (...actions: readonly string[]): readonly BareManifest[] => [
    { kind: 'IPPolicy', name: 'parted', spec: { rulesSource: 'IPPolicyRules' } },
    { kind: 'IPRestriction', name: 'parted', spec: { type: 'Endpoints', ipPolicyRefs: [{ name: 'parted' }] } },
    ...actions.map((action, index) => {
      const spec = { ipPolicyRef: { name: 'parted' }, cidr: `10.${index}.0.0/16`, action }
      return { kind: 'IPPolicyRule', name: `part-${index}`, spec }
    }),
  ]
  const allow = { cidr: '10.0.0.0/8', action: 'Allow' }
  const deny = { cidr: '10.1.0.0/16', action: 'Deny' }
  await planning.apply(manifestsOf([inline([allow, deny]), ...parts('Allow', 'Deny')]))

  expect(await marksOf([inline([deny])])).toContain(LOST('10.0.0.0/8'))
  expect(await marksOf([inline([{ ...allow, action: 'Deny' }, deny])])).toContain(LOST('10.0.0.0/8'))
  const swapped = [
    inline([
      { ...allow, action: 'Deny' },
      { ...deny, action: 'Allow' },
    ]),
  ]
  const opened = (await marksOf(swapped)).filter((mark) => mark.startsWith('opened'))
  expect(opened.toSorted()).toEqual([
    'opened: the policy lets in 10.1.0.0/16',
    'opened: the policy no longer refuses 10.1.0.0/16',
  ])
  expect(await marksOf(parts('Deny', 'Deny'))).toContain(LOST('10.0.0.0/16'))
  expect(await marksOf(parts('Deny', 'Allow'))).not.toContain(LOST('10.0.0.0/16'))
})

/** What edits refer to by id. */
const seedOfEdits: SeedSpec = {
  objects: Object.fromEntries(
    [...new Set([UNNAMED_SEED, EDIT_SEED].flatMap(({ objects = {} }) => Object.keys(objects)))].map((path) => {
      return [path, [UNNAMED_SEED, EDIT_SEED].flatMap(({ objects = {} }) => objects[path] ?? [])]
    }),
  ),
}

/** Plans and carries out the first spec of a story, and then so many of its edits. */
async function expectEditsAsPlanned({ kind, title, base, edits }: KindEditStory, count: number): Promise<void> {
  await using apart = await Apart.open(seedOfEdits)
  const name = resourceName(kind, title)
  let spec: Record<string, unknown> = { ...base }
  await apart.expectAsPlanned([...namedResources, { kind, name, spec }])
  // Without a cluster, nothing tells whose an object is once its own text was edited.
  for (const edit of edits.filter((each) => !('rawMetadata' in each.spec)).slice(0, count)) {
    spec = Object.fromEntries(Object.entries({ ...spec, ...edit.spec }).filter(([, value]) => value !== undefined))
    await apart.expectAsPlanned([...namedResources, { kind, name, spec }])
  }
}

describe('an edit', () => {
  test.each(editStories)('of a $kind ($title) is planned as it is then sent: the first of them', async (story) => {
    await expectEditsAsPlanned(story, 2)
  })

  test.each(editStories)(
    'of a $kind ($title) is planned as it is then sent, change by change',
    { tags: ['nightly'], timeout: 120_000 },
    async (story) => {
      await expectEditsAsPlanned(story, Number.POSITIVE_INFINITY)
    },
  )
})

test('what waits for a new resource of an account that is not planned for is listed', async () => {
  await using apart = await Apart.open({})
  const resources = [
    { kind: 'Edge', name: 'shop', spec: { protocol: 'TLS', backend: { name: 'far' } } },
    {
      kind: 'Backend',
      name: 'far',
      spec: { accountRef: { kind: 'Account', name: 'other' }, type: 'TunnelGroup', tunnelGroup: {} },
    },
  ]
  const { operations, unplanned } = await apart.plan(resources, 'Account/default')
  expect(operations).toEqual([])
  expect(unplanned).toMatchObject([{ resource: { kind: 'Edge', name: 'shop' }, isWaiting: true }])
})

const SEED_OF_SPECS = 20261126
/** Kinds whose specs are drawn, with a pool of specs each. */
const pools = kinds.flatMap((descriptor) => {
  if (descriptor.role !== 'managed') return []
  const specs = fc.sample(anySpecOf(descriptor), { seed: SEED_OF_SPECS, numRuns: 40 }).map(ownOnly)
  return [fc.record({ kind: fc.constant(descriptor.definition.kind), spec: fc.constantFrom(...specs) })]
})

/** The spec of a resource that makes its object in the default account, with Culvert's mark. */
function ownOnly(spec: CommonSpec): Record<string, unknown> {
  const {
    managementPolicy: _policy,
    externalID: _id,
    accountRef: _account,
    deletionPolicy: _deletion,
    rawMetadata: _raw,
    ...own
  } = spec
  return own
}

test('random manifests of all kinds are planned as they are then sent, and the plan is empty afterwards', async () => {
  let compared = 0
  const some = fc.array(fc.oneof(...pools), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(some, async (drawn) => {
      await using apart = await Apart.open(UNNAMED_SEED)
      const resources = drawn.map(({ kind, spec }, index) => ({ kind, name: `drawn-${index}`, spec }))
      if (await apart.isAsPlanned([...namedResources, ...resources])) compared += 1
    }),
    { seed: SEED_OF_SPECS, numRuns: 25 },
  )
  // The service may refuse what two of them claim, which no plan foresees.
  expect(compared).toBeGreaterThan(12)
}, 240_000)

/** The first spec of every kind, all in one account. */
const firstOfEach = managedKindTests.flatMap(({ kind }) => {
  const [first] = specsOf(kind)
  if (first === undefined) return []
  const name = resourceName(kind, first.title)
  return [...first.needs(name), { kind, name, spec: first.spec(name) }]
})

describe('a plan for a server that makes other choices is what is then sent, and empty afterwards', () => {
  test.each(['one', 'two', 'three'])(
    'a mix of them, drawn by %s',
    async (seed) => {
      await using apart = await Apart.open(SEED, mixOf(seed))
      await apart.expectAsPlanned(firstOfEach)
    },
    60_000,
  )

  test.each(ALTERNATIVES.map((alternative) => [`${alternative.name}=${alternative.value}`, alternative] as const))(
    'each alone: %s',
    { tags: ['nightly'], timeout: 60_000 },
    async (_title, alternative) => {
      await using apart = await Apart.open(SEED, withAlternative(DECIDED, alternative))
      await apart.expectAsPlanned(firstOfEach)
    },
  )
})

/** An account of its own. */
class Apart implements AsyncDisposable {
  readonly #world: World
  readonly #planning: Planning

  private constructor(world: World) {
    this.#world = world
    this.#planning = new Planning(world)
  }

  static async open(seed: SeedSpec, choices: Choices = DECIDED): Promise<Apart> {
    const world = await startWorld({ certSeconds: 1, choices })
    await world.admin.seed(seed)
    return new Apart(world)
  }

  plan(resources: readonly BareManifest[], account: string): Promise<Plan> {
    return this.#planning.plan(manifestsOf(resources), account)
  }

  async expectAsPlanned(resources: readonly BareManifest[]): Promise<void> {
    expect(await this.isAsPlanned(resources)).toBe(true)
  }

  /** @returns false if the service refused a part */
  async isAsPlanned(resources: readonly BareManifest[]): Promise<boolean> {
    const manifests = manifestsOf(resources)
    const plan = await this.#planning.plan(manifests)
    const writes = await this.#planning.apply(manifests)
    if (writes.some(({ outcome }) => outcome !== 'done')) return false
    expect(sent(writes)).toEqual(planned(plan))
    const after = await this.#planning.plan(manifests)
    expect(after.operations).toEqual([])
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#planning.close()
    await this.#world.close()
  }
}

function resourceName(kind: string, title: string): string {
  return `${kind}-${title}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
}
