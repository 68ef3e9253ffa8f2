import type { RemoteObject } from '../../../src/api/types.ts'
import type { Ref } from '../../../src/managed/types/common.ts'
import type { Desired, Fields } from '../../../src/managed/types/descriptor.ts'

interface Given<Spec> {
  readonly spec: Spec
  readonly status?: Fields
  /** Remote objects that references lead to, by `Kind/name`. */
  readonly objects?: Readonly<Record<string, RemoteObject>>
}

/** Everything resolved by rule: the id of `Kind/name` is `id-of-name`, a Secret's value is `name/key`. */
export function desiredOf<Spec>({ spec, status = {}, objects = {} }: Given<Spec>): Desired<Spec> {
  const id = (_kind: string, ref: Ref): string => ref.id ?? `id-of-${ref.name}`
  return {
    spec,
    status,
    id,
    target: (kind, ref) => ({ id: id(kind, ref), object: objects[`${kind}/${ref.name ?? ref.id}`] }),
    secret: ({ name, key }) => `${name}/${key}`,
    marker: (nonce) => `{"culvert":"${nonce}"}`,
  }
}
