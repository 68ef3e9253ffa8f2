import { type CustomResource, statusOf } from '../cr.ts'
import type { InputSource } from '../descriptor/common.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { outputTarget } from '../outputs/place.ts'
import type { NamespacedName } from './resource-store.ts'
import type { CoreWatches } from './watches.ts'

/**
 * Every Secret, or every ConfigMap, that an account or a resource names: keys, inputs and outputs. May contain
 * duplicates.
 */
export function namedData(
  kinds: KindsRegistry,
  { managed, accounts }: Pick<CoreWatches, 'managed' | 'accounts'>,
  operatorNamespace: string,
  source: InputSource,
): readonly NamespacedName[] {
  const keys = [...accounts.values()].flatMap(({ store }) => {
    return store.list().map(({ spec, metadata: { namespace } }) => {
      return { namespace: namespace ?? operatorNamespace, name: spec.apiKeySecretRef.name }
    })
  })
  const named = [...managed.values()].flatMap(({ store }) => store.list().flatMap((cr) => namedBy(kinds, cr, source)))
  return source === 'Secret' ? [...keys, ...named] : named
}

function namedBy(kinds: KindsRegistry, cr: CustomResource, source: InputSource): readonly NamespacedName[] {
  const descriptor = kinds.managedKind(cr.kind)
  if (descriptor === undefined) return []
  const { namespace = '' } = cr.metadata
  const inputs = (descriptor.inputs?.of(cr.spec) ?? []).filter((input) => input.source === source)
  const outputs = [outputTarget(descriptor, cr), statusOf(cr).output].filter((place) => place?.kind === source)
  return [...inputs.map(({ ref }) => ref), ...outputs].flatMap((each) => {
    return each === undefined ? [] : [{ namespace, name: each.name }]
  })
}
