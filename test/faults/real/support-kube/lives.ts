import { ROTATE_REQUESTED_AT } from '../../../../src/managed/names.ts'
import { outputIn } from '../../../builders/output-of-spec.ts'
import { managed, subjectsOf, withText } from '../../../cluster/support/cases.ts'
import { hasToken } from '../../../cluster/support/tokens.ts'
import { until } from '../../../cluster/support/wait.ts'
import { conditionOf, type Resource, type World } from '../../../cluster/support/world.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import { type SpecCase, specsOf } from '../../../kinds/lookup.ts'

/** A change to a resource, and how to tell that the operator has handled it. */
export interface LifeStage {
  readonly name: string
  /** Default: every kind has this stage. */
  isFor?(kind: string): boolean
  begin(world: World, subject: Manifest): Promise<unknown>
  /** @param former the resource before the change. */
  isOver(cr: Resource | undefined, former: Resource | undefined): boolean
}

const EDITED = 'edited during trouble'
const withTokens = new Set(managed.filter(hasToken).map(({ definition }) => definition.kind))

/** A life from its first write to its last. Each kind creates one object in it; those with tokens create another. */
export const lifeStages: readonly LifeStage[] = [
  {
    name: 'create',
    begin: (world, { kind, name, spec }) => world.apply(kind, name, spec),
    isOver: (cr) => isSettled(cr),
  },
  {
    name: 'edit',
    begin: (world, subject) => world.apply(subject.kind, subject.name, withText(subject, EDITED)),
    isOver: (cr, former) => isSettled(cr) && cr?.metadata.generation !== former?.metadata.generation,
  },
  {
    name: 'rotate',
    isFor: (kind) => withTokens.has(kind),
    begin: (world, { kind, name }) => world.annotate(kind, name, { [ROTATE_REQUESTED_AT]: 'now' }),
    isOver: (cr, former) => isSettled(cr) && cr?.status?.id !== former?.status?.id,
  },
  {
    name: 'delete',
    begin: (world, { kind, name }) => world.delete(kind, name),
    isOver: (cr) => cr === undefined,
  },
]

/**
 * CRs of the cases. Outputs, where a kind has any, go into an object of the CR's name, and replaced tokens are revoked
 * at once.
 */
export function livesOf(cases: readonly SpecCase[], suffix: string): readonly Manifest[] {
  return subjectsOf(cases, suffix).map((subject) => {
    const { kind, name, spec } = subject
    if (withTokens.has(kind)) return { ...subject, spec: { ...spec, rotation: { interval: '720h', overlap: '0s' } } }
    const publishes = specsOf(kind).some((each) => outputIn(each.spec('any'))?.kind === 'ConfigMap')
    return publishes ? { ...subject, spec: { ...spec, output: { configMap: { name } } } } : subject
  })
}

/** Whether the object in the account shows the edit. */
export async function showsEdit(world: World, { kind, name, spec }: Manifest): Promise<boolean> {
  const descriptor = managed.find(({ definition }) => definition.kind === kind)
  const id = (await world.get(kind, name))?.status?.id
  if (descriptor === undefined || id === undefined) return false
  const { body } = await world.api.get(`/${descriptor.identity.collectionOf(spec).path}/${id}`)
  return Object.values(body as object).includes(EDITED)
}

/**
 * Waits until the stage is over for every subject.
 * @returns the state, by name, of those that have not finished
 */
export async function settleAll(
  world: World,
  subjects: readonly Manifest[],
  stage: LifeStage,
  former: ReadonlyMap<string, Resource>,
): Promise<ReadonlyMap<string, string>> {
  const open = new Map(subjects.map((subject) => [subject.name, subject]))
  const look = async (): Promise<boolean> => {
    const crs = await resourcesOf(world, [...open.values()])
    for (const name of [...open.keys()]) if (stage.isOver(crs.get(name), former.get(name))) open.delete(name)
    return open.size === 0
  }
  try {
    await until(`every resource is through the stage ${stage.name}`, look, { timeoutMs: 90_000 })
  } catch (error) {
    if (open.size === 0) throw error
  }
  const crs = await resourcesOf(world, [...open.values()])
  return new Map([...open.keys()].map((name) => [name, JSON.stringify(crs.get(name))]))
}

/** The current state of the subjects, by name. */
export async function resourcesOf(world: World, subjects: readonly Manifest[]): Promise<ReadonlyMap<string, Resource>> {
  const kinds = [...new Set(subjects.map(({ kind }) => kind))]
  const crs = (await Promise.all(kinds.map((kind) => world.list(kind)))).flat()
  return new Map(crs.map((cr) => [cr.metadata.name, cr]))
}

function isSettled(cr: Resource | undefined): boolean {
  const isMet = ['Ready', 'Synced'].every((type) => {
    const condition = conditionOf(cr, type)
    return condition?.status === 'True' && condition.observedGeneration === cr?.metadata.generation
  })
  return isMet && cr?.status?.internal?.superseded === undefined
}
