import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { GROUP, VERSION } from '../../managed/names.ts'
import type { SpecAdmission } from '../../schema/admission.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import { type Manifest, type ManifestAt, ManifestError } from '../manifests.ts'

/** Looks up the spec that a resource has now; undefined: it is new, or its spec is not known. */
export type FormerSpec = (manifest: Manifest) => unknown

/**
 * The manifests with the defaults of their schemas, as the apiserver would store them.
 * @throws ManifestError that names every field which the apiserver would refuse, with file and line
 */
export function checkManifests(
  kinds: KindsRegistry,
  manifests: readonly ManifestAt[],
  { admission, formerSpec }: { readonly admission: SpecAdmission; readonly formerSpec: FormerSpec },
): readonly ManifestAt[] {
  const definitions = definitionsOf(kinds)
  const problems: string[] = []
  const checked = manifests.map((at) => {
    const { manifest } = at
    const complain = (message: string, path: readonly (string | number)[]): void => {
      problems.push(`${at.file}:${at.lineOf(path)} ${manifest.kind}/${manifest.metadata.name}: ${message}`)
    }
    const [group = '', version] = manifest.apiVersion.split('/')
    if (group !== GROUP) return at
    const definition = definitions.get(manifest.kind)
    if (definition === undefined) {
      complain(`${GROUP} has no kind ${manifest.kind}: correct it to one of ${[...definitions.keys()].join(', ')}`, [
        'kind',
      ])
      return at
    }
    if (version !== VERSION) complain(`apiVersion must be ${GROUP}/${VERSION}`, ['apiVersion'])
    if (!NAME.test(manifest.metadata.name)) {
      complain('metadata.name must consist of lower-case letters, digits, "-" and ".", at most 253', [
        'metadata',
        'name',
      ])
    }
    const { namespace } = manifest.metadata
    if (namespace !== undefined && !NAMESPACE.test(namespace)) {
      complain('metadata.namespace must consist of lower-case letters, digits and "-", at most 63', [
        'metadata',
        'namespace',
      ])
    }
    const admitted = admission.admit(definition, manifest.spec ?? {}, formerSpec(manifest))
    if (admitted.ok) return { ...at, manifest: { ...manifest, spec: admitted.spec } }
    for (const { path, message } of admitted.problems) complain(message, stepsOf(path))
    return at
  })
  if (problems.length > 0) throw new ManifestError(problems.join('\n'))
  return checked
}

/** A DNS label. */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A DNS subdomain, of at most 253 characters. */
const NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/

function definitionsOf({ all }: KindsRegistry): ReadonlyMap<string, KindDefinition> {
  return new Map(all.map(({ definition }) => [definition.kind, definition]))
}

/** `spec.rules[0].cidr` as steps into the document. */
function stepsOf(path: string): readonly (string | number)[] {
  return path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}
