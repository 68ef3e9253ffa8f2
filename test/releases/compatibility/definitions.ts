import type { CustomResourceDefinition } from '../../../scripts/crds/crd.ts'
import { isExperimental } from '../../../src/schema/definition.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { type Incompatibility, incompatibility } from './incompatibility.ts'
import { schemaIncompatibilities } from './schema.ts'

interface Version {
  readonly name: string
  readonly served: boolean
  readonly schema: { readonly openAPIV3Schema: SchemaNode }
  readonly subresources?: Readonly<Record<string, unknown>>
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

interface DefinitionSpec {
  readonly group: string
  readonly scope: string
  readonly names: {
    readonly kind: string
    readonly plural: string
    readonly singular: string
    readonly shortNames?: readonly string[]
    readonly categories?: readonly string[]
  }
  readonly versions: readonly Version[]
  readonly conversion?: { readonly strategy: string }
}

/** What later CRDs break for users of earlier ones: docs/versioning.md. */
export function incompatibilities(
  earlier: readonly CustomResourceDefinition[],
  later: readonly CustomResourceDefinition[],
): readonly Incompatibility[] {
  const removed = earlier.filter(isStable).flatMap((definition) => {
    const successor = later.find(({ metadata }) => metadata.name === definition.metadata.name)
    const { kind } = specOf(definition).names
    return successor
      ? definitionIncompatibilities(specOf(definition), specOf(successor))
      : incompatibility(kind, 'removed', `the CRD ${definition.metadata.name} is gone`)
  })
  return [...removed, ...later.flatMap((definition) => oneSchema(specOf(definition)))]
}

function isStable(definition: CustomResourceDefinition): boolean {
  return !specOf(definition).versions.some(({ schema }) => isExperimental(schema.openAPIV3Schema.description))
}

function specOf({ spec }: CustomResourceDefinition): DefinitionSpec {
  return spec as unknown as DefinitionSpec
}

function definitionIncompatibilities(earlier: DefinitionSpec, later: DefinitionSpec): readonly Incompatibility[] {
  const { kind } = earlier.names
  const names = ['kind', 'singular'] as const
  const lists = ['shortNames', 'categories'] as const
  return [
    ...names
      .filter((name) => earlier.names[name] !== later.names[name])
      .flatMap((name) => incompatibility(kind, 'removed', `${name} ${earlier.names[name]} is gone`)),
    ...lists.flatMap((name) =>
      without(earlier.names[name], later.names[name]).flatMap((each) =>
        incompatibility(kind, 'removed', `${each} of ${name} is gone`),
      ),
    ),
    ...(earlier.scope === later.scope
      ? []
      : incompatibility(kind, 'changed', `scope went from ${earlier.scope} to ${later.scope}`)),
    ...earlier.versions.flatMap((version) => versionIncompatibilities(version, later, kind)),
  ]
}

function versionIncompatibilities(earlier: Version, { versions }: DefinitionSpec, kind: string) {
  const later = versions.find(({ name }) => name === earlier.name)
  if (!later || (earlier.served && !later.served)) {
    return incompatibility(kind, 'removed', `version ${earlier.name} is no longer served`)
  }
  const paths = (version: Version) => version.selectableFields?.map(({ jsonPath }) => jsonPath)
  const [before, after] = [earlier, later].map(({ subresources }) => Object.keys(subresources ?? {}))
  return [
    ...without(paths(earlier), paths(later)).flatMap((path) =>
      incompatibility(`${kind}${path}`, 'removed', 'is no longer a selectable field'),
    ),
    ...[...without(before, after), ...without(after, before)].flatMap((name) =>
      incompatibility(kind, 'changed', `the subresource ${name} exists in only one of both`),
    ),
    ...schemaIncompatibilities(earlier.schema.openAPIV3Schema, later.schema.openAPIV3Schema, kind),
  ]
}

/** All versions have one schema, because there is no conversion. */
function oneSchema({ names: { kind }, versions, conversion }: DefinitionSpec): readonly Incompatibility[] {
  const strategy = conversion?.strategy ?? 'None'
  const [first, ...others] = versions.map(({ schema }) => schema.openAPIV3Schema)
  const differing = first
    ? others.flatMap((other) => [
        ...schemaIncompatibilities(first, other, kind),
        ...schemaIncompatibilities(other, first, kind),
      ])
    : []
  return [
    ...(strategy === 'None' ? [] : incompatibility(kind, 'changed', `conversion by ${strategy}`)),
    ...differing.map((each) => ({ ...each, what: `${each.what} in one version and not in the other` })),
  ]
}

function without(all: readonly string[] = [], kept: readonly string[] = []): readonly string[] {
  return all.filter((each) => !kept.includes(each))
}
