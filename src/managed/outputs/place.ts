import { configMapType, secretType } from '../../kube/core-types.ts'
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import { ownField } from '../../util/json.ts'
import type { CustomResource } from '../cr.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { OutputTarget } from '../descriptor/output.ts'

/** A Secret or ConfigMap with its content. */
export interface DataObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  /** Nobody can change the data any more, only delete the object. */
  readonly immutable?: boolean
}

/** An object of another operator's type beside a CR. */
export interface CompanionTarget {
  readonly kind: string
  readonly name: string
  readonly type: ResourceType
}

/** An object in the CR's namespace that the CR writes. */
export type Place = OutputTarget | CompanionTarget

/** A CR that writes outputs into its namespace, with the client to do so. */
export interface Holder {
  readonly context: { readonly kube: KubeClient }
  readonly cr: CustomResource
}

/** The object that holds the CR's outputs; undefined if it has none. */
export function outputTarget(
  { output }: Pick<ManagedDescriptor, 'output'>,
  { spec, metadata }: { readonly spec: CommonSpec; readonly metadata: { readonly name: string } },
): OutputTarget | undefined {
  if (output === undefined) return undefined
  if (output.type === 'derived') return output.target(spec, metadata.name)
  return { kind: 'Secret', name: output.target(spec, metadata.name).name }
}

export function typeOfTarget(target: Place): ResourceType {
  if ('type' in target) return target.type
  return target.kind === 'Secret' ? secretType : configMapType
}

/** Namespace and name of the target, for calls to the apiserver. */
export function keyOfTarget(cr: CustomResource, { name }: Place) {
  return { namespace: cr.metadata.namespace, name }
}

/** The target's current state, content included. */
export function readTarget(kube: KubeClient, cr: CustomResource, target: Place): Promise<DataObject | undefined> {
  return kube.get<DataObject>(typeOfTarget(target), keyOfTarget(cr, target))
}

/** `Secret name`, as messages name it. */
export function targetText({ kind, name }: Place): string {
  return `${kind} ${name}`
}

/** The text under a key; undefined if there is none. */
export function textIn(kind: OutputTarget['kind'], object: DataObject | undefined, key: string): string | undefined {
  const value = ownField(object?.data, key)
  if (value === undefined || kind === 'ConfigMap') return value
  return Buffer.from(value, 'base64').toString('utf8')
}

/** `text` as an object of that kind stores it. */
export function encoded(kind: OutputTarget['kind'], text: string): string {
  return kind === 'ConfigMap' ? text : Buffer.from(text).toString('base64')
}
