import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { goProgram } from '../../controlplane/go-program.ts'
import { writeObjectSchemas } from './support/object-schemas.ts'
import './support/provided.ts'
import { toolPath } from './support/tools.ts'

const RULES = join(import.meta.dirname, 'rules')

/**
 * Builds Helm 3, Helm 4, kubeconform and the linters if this machine has not done so yet, and writes the schemas of all
 * objects.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const tell = (message: string): void => console.error(message)
  project.provide('helms', { 4: await toolPath('helm4', tell), 3: await toolPath('helm3', tell) })
  project.provide('kubeconformPath', await toolPath('kubeconform', tell))
  project.provide('judges', { kubeScore: await toolPath('kubeScore', tell), trivyRules: await goProgram(RULES) })
  const schemasFolder = await mkdtemp(join(tmpdir(), 'culvert-schemas-'))
  await writeObjectSchemas(schemasFolder)
  project.provide('schemasFolder', schemasFolder)
  return () => rm(schemasFolder, { recursive: true })
}
