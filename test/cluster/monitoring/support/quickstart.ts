import { fileURLToPath } from 'node:url'
import { readManifests } from '../../../../src/cli/demo/demo-manifests.ts'
import type { World } from '../../support/world.ts'

const FOLDER = fileURLToPath(new URL('../../../../examples/quickstart', import.meta.url))

/**
 * Applies the quickstart in the world's namespace, with the world's account in the place of its accounts, and waits
 * until all of it is Ready.
 */
export async function quickstartIsReady(world: World): Promise<void> {
  const applied: { readonly kind: string; readonly name: string }[] = []
  for (const { kind, metadata, ...rest } of await readManifests(FOLDER)) {
    const { name } = metadata
    if (kind === 'Secret') await world.secret(name, (rest.stringData ?? {}) as Readonly<Record<string, string>>)
    if (kind === 'ConfigMap') await world.configMap(name, (rest.data ?? {}) as Readonly<Record<string, string>>)
    if (!rest.apiVersion.startsWith('culvert.dev/') || kind.endsWith('Account')) continue
    const { accountRef: _, ...spec } = rest.spec as Record<string, unknown>
    await world.apply(kind, name, spec, { annotations: {}, ...metadata, namespace: world.namespace })
    applied.push({ kind, name })
  }
  for (const { kind, name } of applied) await world.ready(kind, name, 90_000)
}
