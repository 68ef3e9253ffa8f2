import { parseArgs } from 'node:util'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { programForTests } from '../scripts/program-for-tests.ts'
import { imageEnv } from '../test/builders/image-env.ts'
import type { Row } from './row.ts'

/**
 * `npm run bench`: one table of costs, each a count or compared to a floor measured in the same run. `--quick` takes
 * less than five minutes, `--large` adds 50,000 resources; `--commands` measures only what people wait for on the
 * command line, `--traffic` only what carries bytes, and `--profiles FOLDER` keeps CPU profiles of that;
 * `--churn MINUTES` measures only what memory is left after as much change; `--json FILE` writes the table for
 * programs.
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    large: { type: 'boolean' },
    commands: { type: 'boolean' },
    traffic: { type: 'boolean' },
    profiles: { type: 'string' },
    churn: { type: 'string' },
    json: { type: 'string' },
  },
})

// Operators run as one program, as in the image: the modules below read its path when they are loaded.
await using program = await programForTests()
Object.assign(process.env, program.env)
// Like the image, which has no cache of compiled code: that takes memory.
Object.assign(process.env, imageEnv())
delete process.env.NODE_COMPILE_CACHE
const culvert = String(program.env.CULVERT_TEST_PROGRAM)
const { startCluster } = await import('./cluster.ts')
const { converge, growthOf, idle, rowsOf } = await import('./convergence.ts')
const { backends, edges, policies } = await import('./loads.ts')
const { print, writeJSON } = await import('./row.ts')
const { readServers, rowsOfServers } = await import('./servers.ts')

/**
 * Groups of each load, from the smallest to the largest number. The largest loads come last: the more resources a
 * cluster holds, the slower its servers are.
 */
const sizes = values.quick
  ? ([
      [policies, [200]],
      [edges, [100]],
      [backends, [200, 1000]],
    ] as const)
  : ([
      [policies, [200, 1000]],
      [edges, [200]],
      [backends, [200, 1000, 10_000, ...(values.large ? [50_000] : [])]],
    ] as const)

const rows: Row[] = []
const add = (more: readonly Row[]): void => {
  rows.push(...more)
  for (const { load, figure, value, unit } of more) console.error(`${load}: ${figure} ${value.toFixed(2)} ${unit}`)
}

if (values.traffic) {
  const { run } = await import('./traffic.ts')
  add(await run({ program: culvert, isQuick: values.quick === true, profiles: values.profiles }))
} else if (values.churn !== undefined) {
  await using controlPlane = await startCluster()
  await (await import('./churn.ts')).run(controlPlane, Number(values.churn), add)
} else if (values.commands) {
  await using controlPlane = await startCluster()
  await measureCommands(controlPlane)
} else {
  await measureAll()
}
print(rows)
if (values.json !== undefined) await writeJSON(values.json, rows)

async function measureAll(): Promise<void> {
  await measureCluster()
  if (values.quick) return
  add(await (await import('./emulator-paging.ts')).run())
  add(await (await import('./emulator-scale.ts')).run())
  add(await (await import('./newcomer.ts')).run())
}

async function measureCommands(controlPlane: ControlPlane): Promise<void> {
  const { run } = await import('./commands.ts')
  add(await run(controlPlane, { program: culvert, resources: values.quick ? 1000 : 10_000 }))
}

async function measureCluster(): Promise<void> {
  await using controlPlane = await startCluster()
  const empty = await readServers(controlPlane)
  const without = await idle(controlPlane)
  add(without.rows)
  for (const [load, counts] of sizes) {
    const results = []
    for (const count of counts) {
      const result = await converge(controlPlane, load, count, without)
      results.push(result)
      add(rowsOf(result))
    }
    add(growthOf(results, without))
  }
  if (!values.quick) {
    add(await rowsOfServers(controlPlane, empty))
    add(await (await import('./fairness.ts')).run(controlPlane, 10_000))
  }
  add(await (await import('./budget.ts')).run(controlPlane))
  await measureCommands(controlPlane)
  if (!values.quick) add(await (await import('./sessions.ts')).run(controlPlane))
}
