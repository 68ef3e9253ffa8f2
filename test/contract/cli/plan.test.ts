import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Plan } from '../../../src/cli/plan/make-plan.ts'
import type { WriteReport } from '../../../src/telemetry/write-report.ts'
import { startWorld, type World } from '../../builders/contract/world.ts'
import { manifestsOf, Planning } from '../../builders/planning.ts'
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
      const name = `${kind}-${title}`
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .slice(0, 40)
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
