import { expect, it } from 'vitest'
import { ControlPlaneError } from '../../../../controlplane/errors.ts'
import { controllersStarted, type DemoCluster } from '../../../../src/cli/demo/cluster.ts'

/** What the demo says about controllers that are pending in this way. */
async function said(controllersPending: DemoCluster['controllersPending']): Promise<readonly string[]> {
  const lines: string[] = []
  const cluster: DemoCluster = {
    kubeconfigPath: '',
    kubectlPath: '',
    pids: [],
    controllersPending,
    kubectl: () => Promise.reject(new Error('kubectl is not needed')),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  await controllersStarted(cluster, (line) => lines.push(line))
  return lines
}

it('says nothing of controllers that work', async () => {
  expect(await said(undefined)).toEqual([])
})

it('says that controllers are awaited, and when they work', async () => {
  expect(await said(Promise.resolve())).toEqual([
    'The controllers of Kubernetes are not running yet: until then, deleted namespaces remain',
    'The controllers of Kubernetes are running',
  ])
})

it('ends the demo with the reason if controllers cannot be built', async () => {
  const failed = new ControlPlaneError('BUILD_FAILED', 'go build failed')
  await expect(said(Promise.reject(failed))).rejects.toMatchObject({
    code: 'CLUSTER_FAILED',
    message: 'go build failed',
  })
})

it('shows a bug as it is', async () => {
  const bug = new TypeError('not a function')
  await expect(said(Promise.reject(bug))).rejects.toBe(bug)
})
