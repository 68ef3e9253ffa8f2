import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { productionPackages } from './production-packages.ts'

/** The parts of a CycloneDX document used here. */
export interface Sbom {
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: string
  readonly serialNumber?: string
  readonly metadata: { readonly timestamp?: string; readonly component: SbomComponent }
  readonly components: readonly SbomComponent[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

interface SbomComponent {
  readonly 'bom-ref': string
  readonly type: string
  readonly name: string
  readonly version: string
  readonly purl: string
}

interface PackageFile {
  readonly name: string
  readonly dependencies: Readonly<Record<string, string>>
}

/**
 * The bill of materials of production packages, from npm's complete one (`npm sbom --package-lock-only`).
 *
 * npm's own `--omit dev` also omits packages that both production and development need (npm 11.19: `yaml`, among
 * others), so the lock file decides instead. Time and serial number are omitted: the same lock file gives the same
 * document.
 */
export async function productionSbom(everything: Sbom, root: string): Promise<Sbom> {
  const { name, dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as PackageFile
  const kept = new Set((await productionPackages(root)).map(({ name, version }) => `${name}@${version}`))
  const { serialNumber: _, ...document } = everything
  const { timestamp: __, ...metadata } = everything.metadata
  const own = metadata.component['bom-ref']
  const direct = new Set(
    everything.components.filter((each) => each.name in dependencies).map((each) => each['bom-ref']),
  )
  return {
    ...document,
    // npm names the component after the folder.
    metadata: { ...metadata, component: { ...metadata.component, type: 'application', name } },
    components: everything.components.filter((component) => kept.has(component['bom-ref'])),
    dependencies: everything.dependencies
      .filter(({ ref }) => ref === own || kept.has(ref))
      .map(({ ref, dependsOn }) => ({
        ref,
        dependsOn: dependsOn.filter((each) => (ref === own ? direct : kept).has(each)),
      })),
  }
}
