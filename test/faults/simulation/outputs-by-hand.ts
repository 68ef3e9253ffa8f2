import { configMapType, secretType } from '../../../src/kube/core-types.ts'
import type { CustomResource } from '../../../src/managed/cr.ts'
import type { DataObject } from '../../../src/managed/outputs/place.ts'
import type { SimulatedWorld } from './world.ts'

type Fields = Readonly<Record<string, unknown>>

/** What somebody may do to a Secret or ConfigMap with outputs. */
export type OutputChange = 'delete' | 'alter' | 'strip' | 'disown' | 'add'

export const outputChanges: readonly OutputChange[] = ['delete', 'alter', 'strip', 'disown', 'add']

/** What somebody else keeps in a Secret. */
export const FOREIGN: Fields = { keep: btoa('mine') }

/** The Secrets and ConfigMaps that the resource owns. */
export function outputsOf({ kube }: SimulatedWorld, cr: CustomResource | undefined): readonly DataObject[] {
  const all = [secretType, configMapType].flatMap((type) => kube.list<DataObject>(type).items)
  return all.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === cr?.metadata.uid) ?? false)
}

/** Changes what the resource owns: deletes it, or its data, labels and annotations, owner, or adds to its data. */
export function changeOutputs(world: SimulatedWorld, cr: CustomResource | undefined, how: OutputChange): void {
  for (const { kind, metadata, data = {} } of outputsOf(world, cr)) {
    const type = kind === 'Secret' ? secretType : configMapType
    const { namespace = '', name } = metadata
    const patch = (fields: Fields): unknown => world.server.patch(type, { namespace, name }, fields)
    const altered = Object.fromEntries(Object.keys(data).map((key) => [key, btoa('altered')]))
    if (how === 'delete') world.kube.delete(type, metadata)
    else if (how === 'alter') patch({ data: altered })
    else if (how === 'strip') patch({ metadata: { annotations: null, labels: null } })
    else if (how === 'disown') patch({ metadata: { ownerReferences: null } })
    else patch({ data: FOREIGN })
  }
}
