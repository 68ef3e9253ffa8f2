import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { rootSchema } from '../../scripts/crds/crd.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { accountStatusFields } from '../../src/managed/descriptor/account.ts'
import { commonStatus, outputStatus, rotationStatus } from '../../src/managed/descriptor/common.ts'
import { reasons } from '../../src/managed/descriptor/reasons.ts'
import * as names from '../../src/managed/names.ts'
import type { SchemaNode } from '../../src/schema/schema-node.ts'
import { CRDS, ORIGIN, Release, recordedReleases } from '../releases/release.ts'

const releases = await Promise.all((await recordedReleases()).map((version) => Release.open(version)))
const recorded = (await Promise.all(releases.map((release) => release.all()))).flat()
const objects: readonly KubeObject[] = recorded.map(({ object }) => object)
const surroundings = (
  await Promise.all(
    releases.flatMap((release) => release.index.scenes.map((scene) => release.surroundingsOf(scene, ORIGIN))),
  )
).flat()

/** What Tunnels leave behind. */
const TUNNELS = 'newer than the recording of 0.1.0: a scene of Tunnels has to be added before the next recording'

const PLANS = 'newer than the recording of 0.1.0, which has no plan that waits for approval'

/** Reasons that no recording can contain. */
const UNHELD_REASONS: Readonly<Record<string, string>> = {
  OperatorError: 'a bug makes it',
  WriteRefused: 'it takes a webhook of another, or a policy of another release',
  AnswerRefused: 'the emulator, which scenes are played with, keeps to the contract',
  NotConnected: TUNNELS,
  Contested: TUNNELS,
  TunnelsDisabled: TUNNELS,
  GatewayNotAllowed: TUNNELS,
  TemplateNotAllowed: TUNNELS,
  TemplatesDisabled: TUNNELS,
  ImageNotAllowed: TUNNELS,
  RequestsRefused: 'newer than the recording of 0.1.0: a scene of refused headers has to be added before the next one',
  AwaitingApproval: PLANS,
  CollectionNotListable: 'newer than the recording of 0.1.0: the scene closed leaves it behind at the next recording',
}

/** What Services of type LoadBalancer leave behind. */
const SERVICES = 'newer than the recording of 0.1.0: a scene of Services has to be added before the next recording'

/** Names that no recording contains. */
const UNHELD_NAMES: Readonly<Record<string, string>> = {
  'culvert.dev/approved-plan': PLANS,
  'culvert.dev/domain': SERVICES,
  'culvert.dev/ignore-annotations': SERVICES,
  'culvert.dev/ip-policies': SERVICES,
  'culvert.dev/account': SERVICES,
  'internal.culvert.dev/service-problem': SERVICES,
  'internal.culvert.dev/template-digest': TUNNELS,
  'internal.culvert.dev/token-of': TUNNELS,
}

/** What operators that divide accounts between them leave behind. */
const CLAIMS = 'newer than the recording of 0.1.0: a scene of two operators has to be added before the next recording'

/** Status fields, as `Kind.field.field`, that no recording can contain. */
const DOUBTED = 'newer than the recording of 0.1.0: the scene isOpen leaves it behind at the next recording'
const UNHELD_FIELDS: Readonly<Record<string, string>> = {
  'Edge.hostportSummary': 'newer than the recording of 0.1.0: an Edge has it once it is Ready',
  ...Object.fromEntries(
    kinds
      .filter(({ role }) => role === 'composed')
      .flatMap(({ definition }) => pathsIn(rootSchema(definition).properties?.status, definition.kind))
      .map((path) => [path, TUNNELS]),
  ),
  ...Object.fromEntries(
    kinds
      .filter(({ role }) => role === 'managed')
      .flatMap(({ definition }) =>
        pathsIn(rootSchema(definition).properties?.status, definition.kind)
          .filter((path) => /^\w+\.(plan|internal\.approved)(\.|$)/.test(path))
          .map((path) => [path, PLANS]),
      ),
  ),
  'Account.internal.doubtedUID': DOUBTED,
  'ClusterAccount.internal.doubtedUID': DOUBTED,
  ...Object.fromEntries(
    ['Account', 'ClusterAccount'].flatMap((kind) =>
      ['claim', 'claim.operator', 'claim.term'].map((field) => [`${kind}.internal.${field}`, CLAIMS]),
    ),
  ),
}

/** Status fields that shared code writes for all kinds of a role. */
const SHARED = {
  account: accountStatusFields,
  managed: { ...commonStatus, ...outputStatus, ...rotationStatus },
  mirror: {},
  command: {},
  composed: {},
}

/** Paths of all values in the statuses of recorded objects, starting with the kind, and again with the kind's role. */
const found: ReadonlySet<string> = new Set(
  kinds.flatMap(({ definition, role }) => {
    const schema = rootSchema(definition).properties?.status
    const own = objects.filter(({ kind }) => kind === definition.kind)
    return [definition.kind, role].flatMap((start) => own.flatMap(({ status }) => pathsOf(status, schema, start)))
  }),
)

/** Paths of the values in `value` that a schema names: a list's entries and a map's values share one path. */
function pathsOf(value: unknown, schema: SchemaNode | undefined, path: string): readonly string[] {
  if (schema === undefined) return []
  if (Array.isArray(value)) return value.flatMap((entry) => pathsOf(entry, schema.items, path))
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return [path]
  return Object.entries(value).flatMap(([name, member]) => {
    const at = `${path}.${name}`
    return [at, ...pathsOf(member, schema.properties?.[name], at)]
  })
}

/** Paths of everything that a schema names. */
function pathsIn(schema: SchemaNode | undefined, path: string): readonly string[] {
  const own = Object.entries(schema?.properties ?? {}).flatMap(([name, node]) => {
    return [`${path}.${name}`, ...pathsIn(node, `${path}.${name}`)]
  })
  return [...own, ...(schema?.items === undefined ? [] : pathsIn(schema.items, path))]
}

test('every reason of a condition is in a recorded object, or cannot be held still', () => {
  const told = objects.flatMap(({ status }) => {
    return ((status as { conditions?: readonly { reason: string }[] } | undefined)?.conditions ?? []).map(
      ({ reason }) => reason,
    )
  })
  const missing = Object.values(reasons).filter((reason) => !told.includes(reason))
  expect(new Set(missing)).toEqual(new Set(Object.keys(UNHELD_REASONS)))
})

test('every annotation, label and finalizer is on a recorded object', () => {
  const found = new Set(
    [...objects, ...surroundings].flatMap(({ metadata }) => [
      ...Object.keys(metadata.annotations ?? {}),
      ...Object.keys(metadata.labels ?? {}),
      ...(metadata.finalizers ?? []),
    ]),
  )
  const wanted = Object.values(names).filter((name) => name.includes('/'))
  expect(new Set(wanted.filter((name) => !found.has(name)))).toEqual(new Set(Object.keys(UNHELD_NAMES)))
})

test('every status field is in a recorded object: a kind’s own in one of the kind, one that several kinds share in one of any', () => {
  const missing = kinds.flatMap(({ definition, role }) => {
    const schema = rootSchema(definition).properties?.status
    const { kind } = definition
    // Fields written by shared code are the same for each kind.
    const shared = new Set([...Object.keys(SHARED[role]), 'conditions'])
    return pathsIn(schema, kind).filter((path) => {
      const isShared = shared.has(path.split('.')[1] ?? '')
      return !found.has(isShared ? path.replace(kind, role) : path)
    })
  })
  expect(new Set(missing)).toEqual(new Set(Object.keys(UNHELD_FIELDS)))
})

test('the index names every file of a recorded object, once, and the phase of one that is being deleted', async () => {
  for (const { folder, index } of releases) {
    const files = index.scenes.flatMap((scene) => scene.objects.map(({ file }) => file))
    const present = await Promise.all(
      index.scenes.map(async ({ name }) => (await readdir(join(folder, name))).map((file) => `${name}/${file}`)),
    )
    const own = present.flat().filter((file) => !/\/(api\.json|surroundings\.yaml)$/.test(file))
    expect(files.toSorted()).toEqual(own.toSorted())
  }
  for (const { recorded: entry, object } of recorded) {
    const { kind, metadata } = object
    expect({ kind, name: metadata.name, deleted: metadata.deletionTimestamp !== undefined }, entry.file).toEqual({
      kind: entry.kind,
      name: entry.name,
      deleted: entry.phase === 'Terminating',
    })
  }
})

test('a release keeps its CRDs, one of each kind that it has objects of', async () => {
  for (const { folder, index } of releases) {
    const files = await readdir(join(folder, CRDS))
    const crds = await Promise.all(
      files.map(
        async (file) =>
          parse(await readFile(join(folder, CRDS, file), 'utf8')) as { spec: { names: { kind: string } } },
      ),
    )
    const held = new Set(crds.map(({ spec }) => spec.names.kind))
    for (const { kind, file } of index.scenes.flatMap((scene) => scene.objects)) expect(held.has(kind), file).toBe(true)
  }
})
