import type { Arbitrary } from 'fast-check'
import type { CommonSpec } from '../../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../../src/managed/descriptor/descriptor.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { testsOf } from '../../kinds/lookup.ts'
import { specsFrom } from '../schema-specs.ts'

/** Any spec of a kind that its CRD accepts. */
export function anySpecOf<Spec extends CommonSpec>({ definition }: ManagedDescriptor<Spec>): Arbitrary<Spec> {
  const { kind, spec } = definition
  return specsFrom(toStructural(spec, 'spec'), testsOf(kind).places) as unknown as Arbitrary<Spec>
}
