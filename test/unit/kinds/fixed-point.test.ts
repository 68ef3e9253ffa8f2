import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { CommonSpec, CommonStatus, Fields } from '../../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../../src/managed/descriptor/descriptor.ts'
import { intendedModules, modulesAtRest } from '../../../src/managed/plan/modules.ts'
import { plan, planCreate } from '../../../src/managed/plan/plan.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { anySpecOf } from '../../builders/kinds/any-spec.ts'
import { stored } from '../../builders/kinds/api-model.ts'
import { anyObjects, desiredOf } from '../../builders/kinds/desired.ts'
import { keepsAllRules, withFixedFields } from '../../builders/schema-rules.ts'
import type { Spec } from '../../builders/schema-specs.ts'

/** One CR at the API, updated like the reconciler does. */
class Life<Spec extends CommonSpec> {
  readonly #descriptor: ManagedDescriptor<Spec>
  #remote: RemoteObject | undefined
  #status: CommonStatus & Fields = {}

  constructor(descriptor: ManagedDescriptor<Spec>) {
    this.#descriptor = descriptor
  }

  /** The body of the last PATCH; undefined if none was needed. */
  update(spec: Spec): Fields | undefined {
    if (this.#remote === undefined) {
      this.#remote = this.#created(spec)
      this.#seen(spec, this.#remote)
    }
    const [first] = this.#plan(spec, this.#remote)
    // The object that replaces this one has the complete spec from the start.
    if (first?.type === 'replace') this.#remote = this.#created(spec)
    const [operation] = first?.type === 'replace' ? this.#plan(spec, this.#remote) : [first]
    if (operation?.type !== 'update') return undefined
    this.#remote = stored(operation.body, this.#remote)
    this.#seen(spec, this.#remote)
    return operation.body
  }

  #seen(spec: Spec, remote: RemoteObject): void {
    const { internal } = this.#status
    const kept = { ...internal, ...intendedModules(this.#descriptor.modules, spec, internal ?? {}) }
    const after = { ...kept, ...modulesAtRest(this.#descriptor.modules, remote, kept) }
    this.#status = { ...this.#descriptor.status.shown(remote, kept), internal: after }
  }

  left(spec: Spec): readonly unknown[] {
    return this.#remote === undefined ? ['create'] : this.#plan(spec, this.#remote)
  }

  #created(spec: Spec): RemoteObject {
    return stored(planCreate(this.#descriptor, this.#desired(spec), 'marker'))
  }

  #desired(spec: Spec) {
    return desiredOf({ spec, status: this.#status, objects: anyObjects })
  }

  #plan(spec: Spec, remote: RemoteObject) {
    const context = { markedMetadata: 'marker', inputsChanged: false }
    return plan(this.#descriptor, this.#desired(spec), { remote, children: [] }, context)
  }
}

/** Fixed, so that a failure names the same specs again. */
const seed = 20261121
/** Number of specs of a kind from which those of a resource are chosen. */
const POOL = 120

/**
 * Each collection of each kind. Kinds with children are left to `plan.test.ts`: their children are compared one by
 * one.
 */
const cases = kinds.flatMap((descriptor) => {
  if (descriptor.role !== 'managed' || descriptor.children !== undefined) return []
  const { kind } = descriptor.definition
  return descriptor.identity.collections.map(({ path }) => ({ kind, path, descriptor }))
})

/** The specs that may follow the first one, with its fixed fields. */
function following(schema: SchemaNode, specs: readonly CommonSpec[]): readonly CommonSpec[] {
  const [first = {}, ...others] = specs as readonly Spec[]
  const later = others.map((spec) => withFixedFields(schema, first, spec))
  return [first, ...later.filter((spec) => keepsAllRules(schema, spec, 'spec'))]
}

test.each(cases)(
  'after one write nothing is left to do, whatever the spec was before, for $kind in $path',
  ({ path, descriptor }) => {
    const schema = toStructural(descriptor.definition.spec, 'spec')
    const all = fc.sample(anySpecOf(descriptor), { seed, numRuns: POOL })
    const pool = all.filter((spec) => descriptor.identity.collectionOf(spec).path === path)
    const chosen = fc.array(fc.constantFrom(...pool), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(chosen, (specs) => {
        const life = new Life(descriptor)
        for (const next of following(schema, specs)) {
          const sent = Object.keys(life.update(next) ?? {})
          expect(sent.filter((field) => descriptor.fields.createOnly.includes(field))).toEqual([])
          expect(life.left(next)).toEqual([])
        }
      }),
      { numRuns: 300 },
    )
  },
)
