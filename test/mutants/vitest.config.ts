import { defineConfig } from 'vitest/config'
import { tags } from '../../vitest.config.ts'

/** Unit tests of what is mutated. Those of the kinds take long, and the simulation shows the same. */
const UNIT = ['api', 'http-client', 'kube', 'managed', 'runtime']

/** Short parts that detect most of what unit tests do not, in the least time. */
const SIMULATION = ['scenarios/*', 'undisturbed', 'kills', 'gone']

/**
 * The tests that Stryker tries each mutant on, as far as they reach it. It stops at the first failure, so the quick
 * ones come first.
 */
export default defineConfig({
  test: {
    tags,
    projects: [
      {
        test: {
          name: 'unit',
          include: UNIT.map((folder) => `test/unit/${folder}/**/*.test.ts`),
          // Many mutants keep a promise pending for ever: each costs this long.
          testTimeout: 20_000,
          // One process for all files: starting one takes longer than most of the tests.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'simulation',
          include: SIMULATION.map((suite) => `test/faults/matrix/${suite}.test.ts`),
          testTimeout: 1_800_000,
          // As in the suite itself: its own modules, and more room for young objects.
          execArgv: ['--max-semi-space-size=64'],
          experimental: { viteModuleRunner: false },
          env: { CULVERT_FAULTS_END: 'first' },
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
