import { expect } from 'vitest'
import { createKubectl } from '../../../controlplane/kubectl.ts'
import { type ClosableKubeClient, createKubeClient } from '../../../src/kube/client.ts'
import { loadKubeConnection } from '../../../src/kube/load-config.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { systemRandom } from '../../../src/util/random.ts'
import type { ToolCluster } from './tool.ts'

/** A client of those who install a tool and write its objects. */
export function clientOf({ kubeconfig }: ToolCluster): ClosableKubeClient {
  return createKubeClient({
    connection: loadKubeConnection({ kubeconfig }),
    clock: systemClock,
    random: systemRandom,
    userAgent: 'culvert-test',
  })
}

/** Applies files or objects. */
export async function install(
  { kubeconfig, kubectlPath }: ToolCluster,
  what: { readonly file: string } | { readonly objects: readonly object[] },
): Promise<void> {
  const kubectl = createKubectl({ path: kubectlPath, kubeconfig })
  const apply = ['apply', '--server-side', '--force-conflicts', '-f']
  const { code, stderr } = await ('file' in what
    ? kubectl.run([...apply, what.file])
    : kubectl.run([...apply, '-'], {
        stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: what.objects }),
      }))
  expect(code, stderr).toBe(0)
}

/** Whether kubectl finds these types. */
export async function isServed({ kubeconfig, kubectlPath }: ToolCluster, types: string): Promise<boolean> {
  const { code } = await createKubectl({ path: kubectlPath, kubeconfig }).run(['get', types, '--all-namespaces'])
  return code === 0
}
