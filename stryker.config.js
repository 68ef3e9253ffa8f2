/**
 * `npm run test:mutants`: Stryker changes the operator in one place at a time, and the tests of
 * `test/mutants/vitest.config.ts` have to notice. Only what changed since the last run is tried again.
 */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: {
    configFile: 'test/mutants/vitest.config.ts',
    // The simulation is imported by Node itself, so Vite cannot tell which files it needs.
    related: false,
    // Worker threads refuse the V8 option that the simulation sets.
    pool: 'forks',
  },
  mutate: ['src/{api,managed,runtime}/**/*.ts'],
  mutator: {
    excludedMutations: [
      // Messages: tests assert codes, never texts. A code or a name with another text does not type-check.
      'StringLiteral',
    ],
  },
  // A mutant of what a module computes while it is loaded would need every test, each in a process of its own.
  ignoreStatic: true,
  incremental: true,
  incrementalFile: '.cache/stryker/incremental.json',
  tempDirName: '.cache/stryker/sandbox',
  // Not copied into the sandbox: no test here reads them.
  ignorePatterns: ['/.cache', '/bench', '/charts', '/controlplane', '/crds', '/dist', '/gitops', '/test/fixtures'],
  // TypeScript 7 has no compiler API in JavaScript, with which Stryker would rewrite the file for its sandbox.
  tsconfigFile: 'none.json',
  // Node strips types without checking them.
  disableTypeChecks: false,
  // A busy machine is no reason to count a mutant as killed; endless loops are recognised by their number of turns.
  timeoutMS: 60_000,
  timeoutFactor: 4,
  // The whole of these tests may take long on a machine that is busy.
  dryRunTimeoutMinutes: 60,
  concurrency: 2,
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false, reportMutants: true, reportScoreTable: true },
  htmlReporter: { fileName: '.cache/stryker/report.html' },
  jsonReporter: { fileName: '.cache/stryker/report.json' },
}
