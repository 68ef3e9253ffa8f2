import type { Descriptor } from '../../src/managed/descriptor/descriptor.ts'
import { resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import { GROUP } from '../../src/managed/names.ts'

/** A variable or condition of a ValidatingAdmissionPolicy (admissionregistration.k8s.io/v1). */
export interface Variable {
  readonly name: string
  readonly expression: string
}

/** A validation of a ValidatingAdmissionPolicy. `message` is a sentence without its period. */
export interface Validation {
  readonly expression: string
  readonly message: string
  readonly messageExpression?: string
  readonly reason: 'Forbidden'
}

/** The `matchConstraints` of a policy for all creates and updates of resources of these kinds, in any version. */
export function writesOf(descriptors: readonly Descriptor[]): object {
  return {
    matchPolicy: 'Equivalent',
    resourceRules: [
      {
        apiGroups: [GROUP],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources: descriptors.map((descriptor) => resourceTypeOf(descriptor).plural).sort(),
      },
    ],
  }
}
