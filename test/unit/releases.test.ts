import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rootSchema } from '../../scripts/crds/crd.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { accountStatusFields } from '../../src/managed/descriptor/account.ts'
import { commonStatus, outputStatus, rotationStatus } from '../../src/managed/descriptor/common.ts'
import { reasons } from '../../src/managed/descriptor/reasons.ts'
import * as names from '../../src/managed/names.ts'
import type { SchemaNode } from '../../src/schema/schema-node.ts'
import { ORIGIN, Release } from '../releases/release.ts'
import { definitionsIn, releasedVersions } from '../releases/released.ts'

const releases = await Release.all()
/** A sample need not contain everything. */
const complete = releases.filter(({ isWhole }) => isWhole)
const objects: readonly KubeObject[] = (await Promise.all(complete.map((release) => release.resources())))
  .flat()
  .map(({ object }) => object)
const surroundings = (
  await Promise.all(
    complete.flatMap((release) => release.index.scenes.map((scene) => release.surroundingsOf(scene, ORIGIN))),
  )
).flat()

/** Reasons that no recording can contain. */
const UNHELD_REASONS: Readonly<Record<string, string>> = {
  OperatorError: 'a bug makes it',
  WriteRefused: 'it takes a webhook of another, or a policy of another release',
  AnswerRefused: 'the emulator, which scenes are played with, keeps to the contract',
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

test('every released version is recorded completely', async () => {
  expect(complete.map(({ index }) => index.version)).toEqual(expect.arrayContaining([...(await releasedVersions())]))
})

describe.runIf(complete.length > 0)('complete recordings', () => {
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
    expect(wanted.filter((name) => !found.has(name))).toEqual([])
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
    expect(missing).toEqual([])
  })
})

test('the index names every file of a recorded object, once, and the phase of one that is being deleted', async () => {
  for (const release of releases) {
    const { folder, index } = release
    const files = index.scenes.flatMap((scene) => scene.objects.map(({ file }) => file))
    const present = await Promise.all(
      index.scenes.map(async ({ name }) => (await readdir(join(folder, name))).map((file) => `${name}/${file}`)),
    )
    const own = present.flat().filter((file) => !/\/(api\.json|surroundings\.yaml)$/.test(file))
    expect(files.toSorted()).toEqual(own.toSorted())
    for (const { recorded, object } of await release.resources()) {
      const { kind, metadata } = object
      expect({ kind, name: metadata.name, deleted: metadata.deletionTimestamp !== undefined }, recorded.file).toEqual({
        kind: recorded.kind,
        name: recorded.name,
        deleted: recorded.phase === 'Terminating',
      })
    }
  }
})

test('a release has a CRD of each kind that it has objects of', async () => {
  for (const { crds, index } of releases) {
    const held = new Set((await definitionsIn(crds)).map(({ spec }) => (spec.names as { readonly kind: string }).kind))
    for (const { kind, file } of index.scenes.flatMap((scene) => scene.objects)) expect(held.has(kind), file).toBe(true)
  }
})
