import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportAccount } from '../../../src/cli/export/export-account.ts'
import { manifestText } from '../../../src/cli/export/manifest-text.ts'
import { type ManifestAt, parseManifestsAt } from '../../../src/cli/manifests.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'
import { startWorld, type World } from '../../builders/contract/world.ts'
import { manifestsOf, NAMESPACE, Planning } from '../../builders/planning.ts'
import { managedKindTests } from '../../kinds/index.ts'
import { specsOf } from '../../kinds/lookup.ts'
import { SEED } from '../../kinds/shared/account.ts'

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

/** The account as the command writes it down, read again. */
async function exported(only?: ReadonlySet<string>): Promise<readonly ManifestAt[]> {
  const result = await exportAccount({
    kinds: new KindsRegistry(kinds),
    reader: planning.reader,
    namespace: NAMESPACE,
    only,
  })
  expect(result.leftOut).toEqual([])
  return parseManifestsAt(manifestText(result), 'export.yaml')
}

const cases = managedKindTests.flatMap(({ kind }) => specsOf(kind))

describe('an export', () => {
  test.each(cases)(
    'of what a $kind ($title) makes is planned without any request',
    async ({ kind, title, spec, needs }) => {
      const name = `${kind}-${title}`
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .slice(0, 40)
      await planning.apply(manifestsOf([...needs(name), { kind, name, spec: spec(name) }]))
      const manifests = await exported()
      const plan = await planning.plan(manifests)
      expect(plan.operations).toEqual([])
      expect(plan.unplanned.filter(({ reason }) => reason !== 'Observed')).toEqual([])
    },
  )
})
