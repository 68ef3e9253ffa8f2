import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { objectsIn, type Rendered } from '../chart/support/helm.ts'
import type { World } from '../cluster/support/world.ts'
import type { Files } from './tools/repository.ts'

const QUICKSTART = join(import.meta.dirname, '..', '..', 'examples', 'quickstart')
/** Address and key of the service in the manifests. */
const WRITTEN = { url: 'http://127.0.0.1:4040', apiKey: 'demo-key' }

/** A resource of Culvert as a file; the tool knows its namespace. */
export function manifest(kind: string, name: string, spec: object, annotations: object = {}): string {
  return JSON.stringify({ apiVersion: 'culvert.dev/v1alpha1', kind, metadata: { name, annotations }, spec })
}

/** The quickstart's resources of one namespace, pointed at the emulator of a world. */
export async function quickstart({ emulator }: World): Promise<Files> {
  const files = await readdir(QUICKSTART)
  const contents = files.map(async (file) => {
    const text = await readFile(join(QUICKSTART, file), 'utf8')
    const pointed = text.replaceAll(WRITTEN.url, emulator.url).replaceAll(WRITTEN.apiKey, emulator.apiKey)
    const objects = objectsIn(pointed).filter(isOfNamespace).map(withoutNamespace)
    return [file, objects.map((object) => JSON.stringify(object)).join('\n---\n')] as const
  })
  return Object.fromEntries(await Promise.all(contents))
}

/** Whether it belongs to the namespace, not to the administrator's account. */
function isOfNamespace({ metadata, spec }: Rendered): boolean {
  const { accountRef } = (spec ?? {}) as { readonly accountRef?: { readonly kind?: string } }
  return metadata.namespace === 'quickstart' && accountRef?.kind !== 'ClusterAccount'
}

function withoutNamespace({ metadata: { namespace: _, ...metadata }, ...object }: Rendered): object {
  return { ...object, metadata }
}
