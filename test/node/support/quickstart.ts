import { fileURLToPath } from 'node:url'
import { aimAtEmulator, customResources, readManifests, toYaml } from '../../../src/cli/demo/demo-manifests.ts'
import { until } from '../../cluster/support/wait.ts'
import type { KubernetesNode } from '../node.ts'
import { API_KEY, EMULATOR } from './installation.ts'

/** The namespace of its resources, except the administrator's. */
export const QUICKSTART_NAMESPACE = 'quickstart'

const manifests = await readManifests(fileURLToPath(new URL('../../../examples/quickstart', import.meta.url)))

/** Its custom resources, as `Kind/name`, sorted. */
export const QUICKSTART: readonly string[] = customResources(manifests)
  .map(({ kind, name }) => `${kind}/${name}`)
  .sort()

/** `Kind name` of every object in its manifests, custom or not. */
export const BROUGHT: ReadonlySet<string> = new Set(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`))

/** Applies it, pointed at the chart's emulator, and waits until all of it is Ready. */
export async function runQuickstart(node: KubernetesNode): Promise<void> {
  const stdin = toYaml(aimAtEmulator(manifests, { url: EMULATOR, apiKey: API_KEY }))
  await node.kubectlOutput(['apply', '--server-side', '-f', '-'], { stdin })
  await until('all are Ready', async () => (await readyResources(node)).length === QUICKSTART.length, {
    timeoutMs: 240_000,
    describe: () => node.kubectlOutput(['get', 'culvert', '-A']),
  })
}

/** The custom resources that are Ready, as `Kind/name`, sorted. */
export async function readyResources(node: KubernetesNode): Promise<readonly string[]> {
  const lines = await resourcesWith(node, '{.status.conditions[?(@.type=="Ready")].status}')
  return lines.flatMap(([name, value]) => (value === 'True' ? [name] : []))
}

/** All custom resources, as `Kind/name`, sorted, each with the value of a JSONPath. */
export async function resourcesWith(
  node: KubernetesNode,
  path: string,
): Promise<readonly (readonly [name: string, value: string])[]> {
  const columns = `jsonpath={range .items[*]}{.kind}/{.metadata.name}\t${path}{"\\n"}{end}`
  const lines = (await node.kubectlOutput(['get', 'culvert', '-A', '-o', columns])).split('\n').filter(Boolean).sort()
  return lines.map((line) => {
    const [name = '', value = ''] = line.split('\t')
    return [name, value] as const
  })
}
