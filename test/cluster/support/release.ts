import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { PROGRAM } from '../../builders/program.ts'
import type { World } from './world.ts'

/** The result of a `culvert operator --release`. */
export interface ReleaseRun {
  readonly code: number | null
  readonly lines: readonly string[]
}

/**
 * A `culvert operator --release` on the world's namespace, or on all that its operator watches; with the operator's
 * rights by default.
 */
export function startRelease(world: World, flags: readonly string[], as: 'operator' | 'administrator' = 'operator') {
  const args = [PROGRAM, 'operator', '--release', '--namespace', world.operatorNamespace]
  const times = ['--request-timeout', '1s', '--retry-period', '300ms']
  const rights = as === 'operator' ? world.asOperator(flags) : ['--kubeconfig', world.kubeconfig]
  const child = spawn(process.execPath, [...args, ...times, ...flags, ...rights], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return {
    kill: () => child.kill('SIGKILL'),
    ended: async (): Promise<ReleaseRun> => {
      const [, printed] = await output
      return { code: child.exitCode, lines: printed.split('\n').filter((line) => line !== '') }
    },
  }
}
