import { defineConfig } from 'vitest/config'

/**
 * Takes long for one assertion, shows for further kinds or on real servers what `npm test` shows once, or is a part of
 * the matrix that costs much.
 */
export const tags = [{ name: 'nightly', description: 'run by `npm run test:nightly`, and not by `npm test`' }]

/** Files of whole clusters at a time: they wait for processes half of their time. */
const WORKERS = 3
/**
 * Files at a time of suites that compute all the time, after the others: three simulations on two cores take a quarter
 * longer than two, and one file at a time, which is vitest's choice there, leaves a core idle.
 */
const COMPUTING = { maxWorkers: 2, sequence: { groupOrder: 1 } }
/**
 * Files of a suite share the modules of their worker: no test changes one, and to load all of them for each file anew
 * takes half of the time of `unit`, and a fifth of others.
 */
const SHARED = { isolate: false }

/**
 * Eleven suites. `unit` needs nothing but Node; `contract` speaks HTTP to emulators it starts;
 * `cluster` runs the operator against a real kube-apiserver (started once for the suite, or given by
 * CULVERT_TEST_KUBECONFIG); `simulation` runs the operator over models of both servers, in a time of its own, while
 * everything fails; `faults` does the same as `cluster` while things fail and people mean harm, for minutes; `hostile`
 * plays the attacker, on the same servers: tenants, the API at the other end, and a stolen token; `chart` renders the
 * Helm chart with real Helms, which Go builds once; `gitops` runs Flux and Argo CD next to it; `ui` opens the page of
 * `culvert ui` in Debian's Chromium; `image` builds the Dockerfile and runs the image, as root on a Debian; `node`
 * installs the chart with the image on a real Kubernetes node, as root on a Debian too.
 */
export default defineConfig({
  test: {
    tags,
    projects: [
      // Property tests compute for seconds; what times out on a busy machine says nothing.
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 120_000, ...COMPUTING, ...SHARED } },
      {
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          globalSetup: ['test/contract/global-setup.ts'],
          testTimeout: 60_000,
          ...COMPUTING,
          ...SHARED,
        },
      },
      {
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          globalSetup: ['test/cluster/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: WORKERS,
          ...SHARED,
        },
      },
      {
        test: {
          name: 'simulation',
          include: ['test/faults/matrix/**/*.test.ts'],
          // The whole matrix takes minutes a file; in `npm test` it is a part of each.
          testTimeout: 1_800_000,
          // MiB for young objects: most of a simulated world's are garbage before a collection would have to copy them.
          execArgv: ['--max-semi-space-size=64'],
          // Node imports the sources itself: in Vite's modules every use of an import goes through a getter. A quarter
          // faster, with the above.
          experimental: { viteModuleRunner: false },
          ...COMPUTING,
          ...SHARED,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/hostile/abuse/*.test.ts', 'test/faults/real/**/*.test.ts'],
          globalSetup: ['test/cluster/global-setup.ts'],
          // A test has hundreds of cases, and another file runs beside it in the whole matrix.
          testTimeout: 600_000,
          hookTimeout: 120_000,
          maxConcurrency: 12,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'hostile',
          include: ['test/hostile/{api,tenants,token}/**/*.test.ts'],
          globalSetup: ['test/hostile/global-setup.ts', 'test/cluster/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: WORKERS,
          ...SHARED,
        },
      },
      {
        test: {
          name: 'chart',
          include: ['test/chart/**/*.test.ts'],
          globalSetup: ['test/chart/global-setup.ts'],
          testTimeout: 120_000,
          maxWorkers: WORKERS,
          ...SHARED,
        },
      },
      {
        test: {
          name: 'gitops',
          include: ['test/gitops/**/*.test.ts'],
          globalSetup: ['test/cluster/global-setup.ts'],
          // A scenario has up to six steps, and a tool waits for 20 s before it says that something is not finished.
          testTimeout: 900_000,
          hookTimeout: 120_000,
          maxConcurrency: 4,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'image',
          include: ['test/image/**/*.test.ts'],
          globalSetup: ['test/image/global-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'ui',
          include: ['test/ui/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'node',
          include: ['test/node/**/*.test.ts'],
          testTimeout: 300_000,
          // Programs, image and base are built here where this machine has not done so yet.
          hookTimeout: 1_800_000,
          maxWorkers: 1,
        },
      },
    ],
  },
})
