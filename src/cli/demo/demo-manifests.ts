import type { ResourceName } from '../../managed/cr.ts'
import { accountDefaults } from '../../managed/descriptor/account.ts'
import { GROUP } from '../../managed/names.ts'
import { writeYaml } from '../../util/yaml/write.ts'
import { type Manifest, readManifestsAt } from '../manifests.ts'

/** An account at the emulator. */
export interface EmulatedAccount {
  readonly url: string
  readonly apiKey: string
}

/** All documents of the files in a folder, in the order of the file names. */
export async function readManifests(folder: string): Promise<readonly Manifest[]> {
  return (await readManifestsAt(folder)).map(({ manifest }) => manifest)
}

export function toYaml(manifests: readonly Manifest[]): string {
  return manifests.map(writeYaml).join('---\n')
}

/** The manifests with every account pointing at the emulator, and its key in the Secrets that the accounts name. */
export function aimAtEmulator(manifests: readonly Manifest[], { url, apiKey }: EmulatedAccount): readonly Manifest[] {
  const keys = new Map(manifests.filter(isAccount).map((account) => keySecretOf(account)))
  return manifests.map((manifest) => {
    if (isAccount(manifest)) return { ...manifest, spec: { ...manifest.spec, baseURL: url } }
    const key = manifest.kind === 'Secret' ? keys.get(manifest.metadata.name) : undefined
    return key === undefined ? manifest : { ...manifest, stringData: { [key]: apiKey } }
  })
}

interface AccountManifest extends Manifest {
  readonly spec: { readonly apiKeySecretRef: { readonly name: string; readonly key?: string } }
}

function isAccount(manifest: Manifest): manifest is AccountManifest {
  return isCustom(manifest) && (manifest.kind === 'Account' || manifest.kind === 'ClusterAccount')
}

/**
 * Name of the Secret and the key in it. In the demo's manifests, no two Secrets share a name, whatever their namespace.
 */
function keySecretOf({ spec }: AccountManifest): readonly [secret: string, key: string] {
  const { name, key = accountDefaults.apiKeySecretKey } = spec.apiKeySecretRef
  return [name, key]
}

function isCustom({ apiVersion }: Manifest): boolean {
  return apiVersion.startsWith(`${GROUP}/`)
}

/** The manifests with that public key in the Secret of the agent. */
export function withAgentKey(manifests: readonly Manifest[], publicKey: string): readonly Manifest[] {
  return manifests.map((manifest) => {
    const isKey = manifest.kind === 'Secret' && manifest.metadata.name === 'agent-key'
    return isKey ? { ...manifest, stringData: { 'id_ed25519.pub': publicKey } } : manifest
  })
}

/** The custom resources among the manifests, in their order. */
export function customResources(manifests: readonly Manifest[]): readonly ResourceName[] {
  return manifests.filter(isCustom).map(({ kind, metadata: { namespace, name } }) => ({ kind, namespace, name }))
}
