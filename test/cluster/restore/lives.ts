import { expect } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { tokenPlaceIn } from '../../builders/output-of-spec.ts'
import { CaseList } from '../../faults/support/case-list.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { specsOf } from '../../kinds/lookup.ts'
import { CONFIG_MAP, SECRET, SEED } from '../../kinds/shared/account.ts'
import { applyAll, applyNeeds, casesTitled, managed, subjectsOf } from '../support/cases.ts'
import { hasToken, openedBy, type Secret, secrets } from '../support/tokens.ts'
import { until } from '../support/wait.ts'
import { conditionOf, core, type Resource, typeOf, type World } from '../support/world.ts'

const configMaps = core('configmaps', 'ConfigMap')

/** A resource in its first life, with the object that it holds. */
export interface Subject extends Manifest {
  readonly id: string
  /** Collection of the object. */
  readonly path: string
  /**
   * Whether the object carries the marker of its resource: not with `rawMetadata`, and not bots, which have no
   * metadata.
   */
  readonly marked: boolean
  readonly token: boolean
}

/** Lists what a test has shown of each of the subjects. */
export async function listRestored(scenario: string, subjects: readonly Subject[]): Promise<void> {
  const list = new CaseList(`restored: ${scenario}`, 'real', { least: subjects.length })
  for (const { kind, name } of subjects) list.passed({ write: `${kind}/${name}`, point: 'at rest', fault: scenario })
  await list.end()
}

/** One minimal and one full CR of each kind with all that they refer to, Ready. */
export async function oneOfEach(world: World, suffix = 'life'): Promise<readonly Subject[]> {
  const cases = [...casesTitled('minimal'), ...casesTitled('full')]
  await applyNeeds(world, cases, [suffix])
  await applyAll(world, subjectsOf(cases, suffix))
  return everything(world)
}

/** Further CRs of every kind with a token, each under the name `KIND-TITLE`. */
export async function tokensFor(
  world: World,
  titles: readonly string[],
  specFor: (title: string) => Record<string, unknown>,
): Promise<void> {
  const own = managed.filter(hasToken).flatMap(({ definition: { kind } }) => {
    return titles.map((title) => {
      return { kind, name: tokenName(kind, title), spec: { ...specsOf(kind)[0]?.spec(title), ...specFor(title) } }
    })
  })
  await applyAll(world, own)
}

export function tokenName(kind: string, title: string): string {
  return `${kind.toLowerCase()}-${title}`
}

/** Every managed CR of the world, once it is Ready. */
export async function everything(world: World): Promise<readonly Subject[]> {
  const lists = await Promise.all(
    managed.map(async (descriptor) => {
      const { kind } = descriptor.definition
      return Promise.all(
        (await world.list(kind)).map(async ({ metadata: { name } }) => {
          const { spec, status } = await world.ready(kind, name, 60_000)
          const { path } = descriptor.identity.collectionOf(spec)
          const marked = descriptor.identity.markedBy === 'metadata' && spec.rawMetadata === undefined
          return { kind, name, spec, id: status?.id ?? '', path, marked, token: hasToken(descriptor) }
        }),
      )
    }),
  )
  return lists.flat()
}

/** What a backup of the namespace holds. */
export interface Backup {
  readonly resources: readonly Resource[]
  /** Secrets and ConfigMaps that outputs went into. */
  readonly outputs: readonly Secret[]
}

export async function backUp(world: World): Promise<Backup> {
  const lists = await Promise.all(inNamespace.map((kind) => world.list(kind)))
  const all = await Promise.all([secrets, configMaps].map((type) => world.kube.list<Secret>(type, world)))
  const outputs = all
    .flatMap(({ items }) => items)
    .filter(({ metadata }) => metadata.annotations?.['internal.culvert.dev/output-of'] !== undefined)
  return { resources: lists.flat(), outputs }
}

/** Kinds with CRs in a namespace; accounts first, as everything else needs one. */
const inNamespace = kinds
  .filter(({ definition }) => definition.scope === 'Namespaced')
  .map(({ definition }) => definition.kind)

/** Takes everything out of the namespace by hand, while no operator runs: the account is not asked. */
export async function wipe(world: World, { resources, outputs }: Backup): Promise<void> {
  await world.operator.kill()
  for (const cr of resources) await removeByHand(world, cr.kind, cr.metadata.name)
  for (const output of outputs) {
    await world.kube.delete(typeOfOutput(output), { namespace: world.namespace, name: output.metadata.name })
  }
  await until('the Secrets are gone', async () => {
    const left = await backUp(world)
    return left.outputs.length === 0
  })
}

/** As people do who are tired of a finalizer. */
async function removeByHand(world: World, kind: string, name: string): Promise<void> {
  const key = { namespace: world.namespace, name }
  await world.kube.mergePatch(typeOf(kind), key, { metadata: { finalizers: null } })
  await world.delete(kind, name)
  await world.gone(kind, name)
}

/**
 * Puts a CR back as a backup tool does: without UID and status. `bare`: as its manifest in a repository, without
 * annotations.
 */
export async function putBack(world: World, cr: Resource, bare = false): Promise<void> {
  const { annotations, labels, finalizers } = cr.metadata
  const restored = { annotations, labels: { ...labels, 'velero.io/restore-name': 'r' }, finalizers }
  await world.apply(cr.kind, cr.metadata.name, cr.spec, bare ? {} : restored)
}

/** Applies manifests as a repository has them: without annotations, and with what people made for them. */
export async function applyManifests(world: World, { resources }: Pick<Backup, 'resources'>): Promise<void> {
  await world.secret(SECRET.name, SECRET.values)
  await world.configMap(CONFIG_MAP.name, CONFIG_MAP.values)
  for (const cr of resources) await putBack(world, cr, true)
}

/** Deletes CRs as people do, all at once; they go in the order in which they released each other. */
export async function deleteAll(world: World, manifests: readonly Manifest[]): Promise<void> {
  for (const { kind, name } of manifests) await world.delete(kind, name)
  await Promise.all(manifests.map(({ kind, name }) => world.gone(kind, name, 60_000)))
}

/** Id of the same resource among those of another life or cluster. */
export function idIn(subjects: readonly Subject[], { kind, name }: Manifest): string | undefined {
  return subjects.find((subject) => subject.kind === kind && subject.name === name)?.id
}

/** Waits until Culvert has reached an end with the CR: Ready, refused, or waiting for one that is. */
export async function settled(world: World, { kind, name }: Manifest): Promise<'ready' | 'refused'> {
  const at = (cr: Resource) => {
    const [ready, synced] = ['Ready', 'Synced'].map((type) => conditionOf(cr, type))
    if (ready?.status === 'True' && synced?.status === 'True') return 'ready'
    return ['Conflict', 'OutputNotOwned', 'ReferenceNotReady'].includes(ready?.reason ?? '') ? 'refused' : undefined
  }
  const cr = await world.until(kind, name, 'is settled', (found) => at(found) !== undefined, 60_000)
  return at(cr) ?? 'refused'
}

/** What the API shows of the subjects' objects. */
export async function bodies(world: World, subjects: readonly Subject[]): Promise<ReadonlyMap<string, unknown>> {
  const all = await Promise.all(subjects.map(({ path, id }) => world.api.get(`/${path}/${id}`)))
  return new Map(subjects.map(({ id }, index) => [id, all[index]?.body]))
}

/** Puts a Secret or ConfigMap back, with or without the owner references, whose UIDs do not exist any more. */
export async function putBackOutput(world: World, output: Secret, owned: boolean): Promise<void> {
  const { name, annotations, labels, ownerReferences } = output.metadata
  const metadata = { name, annotations, labels, ...(owned ? { ownerReferences } : {}) }
  await world.kube.create(typeOfOutput(output), { namespace: world.namespace, name }, { metadata, data: output.data })
}

function typeOfOutput({ kind }: KubeObject) {
  return kind === 'ConfigMap' ? configMaps : secrets
}

/** Gives the CR the object by the advice of its condition or Event. */
export async function takeBack(world: World, { kind, name, spec }: Manifest, id: string): Promise<void> {
  await world.apply(kind, name, { ...spec, externalID: id, managementPolicy: 'Manage' })
}

/** Reasons of the Events about a CR. */
export async function reasonsFor(world: World, { kind, name }: Manifest): Promise<readonly string[]> {
  return (await world.events(kind, name)).map(({ reason }) => reason)
}

/** Waits for an Event with this reason; resolves to its words. */
export async function told(world: World, { kind, name }: Manifest, reason: string): Promise<string> {
  const look = async () => (await world.events(kind, name)).findLast((event) => event.reason === reason)?.note
  return until(`${kind}/${name} reports ${reason}`, look, {
    describe: async () => ({ events: await world.events(kind, name), cr: await world.get(kind, name) }),
  })
}

/** Collections in which every object is a CR's: not those of rules, which a policy may also hold itself. */
const children = new Set(managed.flatMap((descriptor) => descriptor.children?.collection.path ?? []))
const paths = [
  ...new Set(managed.flatMap(({ identity: { collections } }) => collections.map(({ path }) => path))),
].filter((path) => !children.has(path))

/** Ids of everything that the account holds in them, but for what was there before. */
export async function objectIds(world: World): Promise<readonly string[]> {
  const seeded = Object.values(SEED.objects ?? {}).flatMap((objects) => objects.map(({ id }) => String(id)))
  const there = [...seeded, world.journal()[0]?.keyId]
  const ids = (await Promise.all(paths.map((path) => world.remote(path)))).flat().map(({ id }) => String(id))
  return ids.filter((id) => !there.includes(id)).toSorted()
}

/** Whether the Secret that the spec sets opens the object. */
export async function opens(world: World, { kind, name, spec }: Manifest, id: string): Promise<boolean> {
  const place = tokenPlaceIn(spec, name)
  const secret = await world.kube.get<Secret>(secrets, { namespace: world.namespace, name: place.name })
  const token = Buffer.from(secret?.data?.[place.key] ?? '', 'base64').toString('utf8')
  return (await openedBy(world, kind, token)) === id
}

/** Reason and message of Ready. */
export async function readyOf(world: World, { kind, name }: Manifest) {
  return conditionOf(await world.get(kind, name), 'Ready')
}

/**
 * Checks that the account holds each object of `subjects` once and no other, and that another look changes nothing.
 */
export async function expectAtRest(world: World, subjects: readonly Subject[]): Promise<void> {
  const whole = subjects
    .filter(({ path }) => !children.has(path))
    .map(({ id }) => id)
    .toSorted()
  const alone = async () => JSON.stringify(await objectIds(world)) === JSON.stringify(whole)
  await until('the account holds nothing else', alone, {
    describe: async () => ({
      found: await objectIds(world),
      known: subjects.map(({ kind, name, id }) => `${kind}/${name} ${id}`),
    }),
  })
  for (const { kind, name, path, id } of subjects) {
    expect((await world.api.get(`/${path}/${id}`)).status, `${kind}/${name}`).toBe(200)
  }
  const mark = world.mark()
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  expect((await world.get('Account', 'default'))?.status?.orphanCount).toBe(0)
}
