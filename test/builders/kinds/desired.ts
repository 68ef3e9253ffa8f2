import type { RemoteObject } from '../../../src/api/types.ts'
import type { CommonStatus, Fields, Ref } from '../../../src/managed/descriptor/common.ts'
import type { Desired } from '../../../src/managed/descriptor/desired.ts'
import { INPUTS } from '../../kinds/shared/account.ts'

interface Given<Spec> {
  readonly spec: Spec
  readonly status?: CommonStatus & Fields
  /** Referenced remote objects, by `Kind/name`. */
  readonly objects?: Readonly<Record<string, RemoteObject>>
}

/** The object of every reference, with fields that its name determines. */
export const anyObjects: Readonly<Record<string, RemoteObject>> = new Proxy(
  {},
  {
    get: (_target, key) => {
      const name = String(key).split('/')[1] ?? ''
      return { id: `id-of-${name}`, domain: `${name}.example.org`, addr: `${name}.tcp.example.net:10000` }
    },
  },
)

/**
 * Everything resolved by rule: the id of `Kind/name` is `id-of-name`, an input is `name/key`, except for keys that name
 * a text.
 */
export function desiredOf<Spec>({ spec, status = {}, objects = {} }: Given<Spec>): Desired<Spec> {
  const id = (_kind: string, ref: Ref): string =>
    ref.id ?? `id-of-${[ref.namespace, ref.name].filter(Boolean).join('-')}`
  const objectOf = (kind: string, { id: known, name, namespace }: Ref): RemoteObject | undefined => {
    const object = objects[`${kind}/${name ?? known}`]
    if (object === undefined || namespace === undefined) return object
    // A reference into another namespace gives another id.
    const { addr, domain } = object
    return { ...object, addr: `${namespace}.${String(addr)}`, domain: `${namespace}.${String(domain)}` }
  }
  return {
    spec,
    status,
    id,
    target: (kind, ref) => ({ id: id(kind, ref), object: objectOf(kind, ref) }),
    resolves: () => true,
    isGone: () => false,
    input: (_source, { name, key }) => INPUTS[key] ?? `${name}/${key}`,
    decides: () => true,
    now: Date.UTC(2026, 0, 1),
    marker: (nonce, metadata) => JSON.stringify({ culvert: nonce, ...metadata }),
  }
}
