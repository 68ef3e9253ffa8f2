/**
 * Runs the cluster suite against a cluster that kind makes, and deletes the cluster. Needs Docker (or Podman), kind
 * and kubectl. See README.md beside this file.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const CLUSTER = 'culvert-test'
const CONFIG = join(import.meta.dirname, 'cluster.yaml')
/** It starts, kills and stops control planes of its own, which takes Go and says nothing about kind. */
const NOT_ABOUT_KIND = 'test/cluster/control-plane.test.ts'

const { values, positionals } = parseArgs({
  options: { image: { type: 'string' }, keep: { type: 'boolean' } },
  allowPositionals: true,
})

/** Runs a program on this terminal; resolves with its exit code. */
async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  console.error(`> ${program} ${args.join(' ')}`)
  const child = spawn(program, args, { stdio: 'inherit', env })
  const [code] = await once(child, 'exit')
  return typeof code === 'number' ? code : 1
}

/** Makes the cluster and runs the suite in it; the cluster is deleted whatever happens, unless it is to be kept. */
async function runSuite(kubeconfig: string): Promise<number> {
  const image = values.image === undefined ? [] : ['--image', values.image]
  try {
    const created = await run('kind', [
      'create',
      'cluster',
      ...['--name', CLUSTER, '--config', CONFIG, '--kubeconfig', kubeconfig, '--wait', '120s'],
      ...image,
    ])
    if (created !== 0) return created
    return await run('npx', ['vitest', 'run', '--project', 'cluster', '--exclude', NOT_ABOUT_KIND, ...positionals], {
      ...process.env,
      CULVERT_TEST_KUBECONFIG: kubeconfig,
    })
  } finally {
    if (!values.keep) await run('kind', ['delete', 'cluster', '--name', CLUSTER, '--kubeconfig', kubeconfig])
  }
}

// Ctrl-C reaches kind and vitest by itself; this process stays to delete the cluster once they have ended.
process.on('SIGINT', () => {})

const folder = await mkdtemp(join(tmpdir(), 'culvert-kind-'))
try {
  process.exitCode = await runSuite(join(folder, 'kubeconfig'))
} catch (error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  console.error('kind is not on PATH. Install it and Docker: https://kind.sigs.k8s.io/docs/user/quick-start/')
  process.exitCode = 1
} finally {
  if (values.keep) console.error(`The cluster is kept: export KUBECONFIG=${join(folder, 'kubeconfig')}`)
  else await rm(folder, { recursive: true })
}
