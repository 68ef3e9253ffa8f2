import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runExport } from '../../../src/cli/export-command.ts'
import { runPlan } from '../../../src/cli/plan-command.ts'
import { readEnvironment } from '../../../src/config.ts'
import { capturedTerminals } from '../../builders/captured-text.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import type { World } from './world.ts'

/** What a command printed and returned. */
export interface Ran {
  readonly code: number
  readonly output: string
  readonly errors: string
}

function documentsOf(world: World, manifests: readonly Manifest[]): string {
  return manifests
    .map(({ kind, name, spec }) => {
      const metadata = { name, namespace: world.namespace }
      return JSON.stringify({ apiVersion: 'culvert.dev/v1alpha1', kind, metadata, spec })
    })
    .join('\n---\n')
}

/** `culvert plan` for the cluster and the Account of the world. */
export async function planIn(world: World, manifests: readonly Manifest[], prune = false): Promise<Ran> {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-plan-'))
  try {
    await writeFile(join(folder, 'all.yaml'), documentsOf(world, manifests))
    const flags = {
      filename: [folder],
      kubeconfig: world.kubeconfig,
      account: 'Account/default',
      namespace: world.namespace,
      operatorNamespace: world.operatorNamespace,
      output: 'json' as const,
      prune,
    }
    const terminals = capturedTerminals()
    const code = await runPlan(flags, readEnvironment({}), { input: [], ...terminals })
    return { code, ...terminals.printed() }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The requests of a plan, in the form of `sentIn`. */
export function plannedIn({ output }: Ran): readonly string[] {
  const { operations } = JSON.parse(output) as { operations: readonly { action: string; collection: string }[] }
  return operations.map(({ action, collection }) => `${METHODS[action]} ${collection}`).toSorted()
}

const METHODS: Readonly<Record<string, string>> = { create: 'POST', update: 'PATCH', delete: 'DELETE' }

/** The writes that reached the emulator since `mark`, each with its collection. */
export function sentIn(world: World, mark: number): readonly string[] {
  const collectionOf = (method: string, path: string): string => {
    const steps = path.split('/').filter((step) => step !== '')
    return (method === 'POST' ? steps : steps.slice(0, -1)).join('/')
  }
  return world
    .writes(mark)
    .map(({ method, path }) => `${method} ${collectionOf(method, path)}`)
    .toSorted()
}

/** `culvert export` of the world's account. */
export async function exportFrom(world: World): Promise<Ran> {
  const flags = {
    kind: [],
    id: [],
    namespace: world.namespace,
    baseUrl: world.emulator.url,
    apiKey: world.emulator.apiKey,
  }
  const terminals = capturedTerminals()
  const code = await runExport(flags, readEnvironment({}), terminals)
  return { code, ...terminals.printed() }
}
