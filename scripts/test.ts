import { parseCLI, type Reporter, startVitest } from 'vitest/node'
import { programForTests } from './program-for-tests.ts'
import { countTests, exitCodeOf, summaryLine, type TestCounts, withFailureOutsideTests } from './test-summary.ts'

/** Two need root on Debian, two take long, and one needs a browser: `npm test -- --project image` runs one of them. */
const ON_REQUEST = ['!image', '!node', '!faults', '!gitops', '!ui']

const NIGHTLY = 'nightly'

/**
 * `npm test`: runs all suites except `image`, `node`, `faults`, `gitops` and `ui`, without the tests tagged `nightly`, and
 * ends with the line `N passed, N failed`. Accepts vitest's own arguments, as in
 * `npm test -- --project unit test/unit/api`, and `--nightly`, which runs those tests instead. The exit code is 1 if
 * anything failed or nothing ran.
 */
async function main(args: readonly string[]): Promise<TestCounts> {
  const isNightly = args.includes('--nightly')
  const { filter, options } = parseCLI(['vitest', 'run', ...args.filter((arg) => arg !== '--nightly')])
  const isChosen = (tags: readonly string[]): boolean => tags.includes(NIGHTLY) === isNightly
  let counts: TestCounts = { passed: 0, failed: 0, skipped: 0 }
  const counting: Reporter = {
    onTestRunEnd: (files, unhandledErrors) => {
      counts = countTests(files, unhandledErrors, isChosen)
    },
  }
  // A test marked `only` would silently skip the others.
  const vitest = await startVitest(filter, {
    allowOnly: false,
    ...options,
    project: options.project ?? ON_REQUEST,
    tagsFilter: [isNightly ? NIGHTLY : `!${NIGHTLY}`],
    watch: false,
    reporters: ['default', counting],
  })
  await vitest.close()
  return counts
}

await using program = await programForTests()
Object.assign(process.env, program.env)
const counts = await main(process.argv.slice(2))
// vitest also sets the exit code for failures outside tests: a suite that could not start, or not stop.
const outcome = process.exitCode ? withFailureOutsideTests(counts) : counts
console.log(summaryLine(outcome))
process.exitCode = process.exitCode || exitCodeOf(outcome)
