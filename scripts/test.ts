import { fileURLToPath } from 'node:url'
import { parseCLI, type Reporter, startVitest } from 'vitest/node'
import {
  countTests,
  exitCodeOf,
  needingSecondTry,
  summaryLine,
  type TestCounts,
  withFailureOutsideTests,
} from './test-summary.ts'

/** Two take root on a Debian, which not everybody has, and one takes long: `npm test -- --project image` runs one of them. */
const ON_REQUEST = ['!image', '!node', '!faults']

/**
 * `npm test`: runs all suites but `image`, `node` and `faults`, and ends with the line `N passed, N failed`. Takes vitest's own
 * arguments: `npm test -- --project unit test/unit/api`. The exit code is 1 when anything failed or nothing ran.
 */
async function main(args: readonly string[]): Promise<TestCounts> {
  const { filter, options } = parseCLI(['vitest', 'run', ...args])
  let counts: TestCounts = { passed: 0, failed: 0, skipped: 0 }
  const counting: Reporter = {
    onTestRunEnd: (files, unhandledErrors) => {
      counts = countTests(files, unhandledErrors)
      for (const name of needingSecondTry(files)) console.log(`passed at the second try only: ${name}`)
    },
  }
  // A test marked `only` would leave the others out without a word.
  const vitest = await startVitest(filter, {
    allowOnly: false,
    ...options,
    project: options.project ?? ON_REQUEST,
    watch: false,
    reporters: ['default', counting],
  })
  await vitest.close()
  return counts
}

// Operators are started hundreds of times: what Node made of their sources is kept from one start to the next.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/culvert-compile', import.meta.url))

const counts = await main(process.argv.slice(2))
// vitest sets the exit code also for what belongs to no test: a suite that could not start, or not stop.
const outcome = process.exitCode ? withFailureOutsideTests(counts) : counts
console.log(summaryLine(outcome))
process.exitCode = process.exitCode || exitCodeOf(outcome)
