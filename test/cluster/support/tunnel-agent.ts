import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { CulvertAgent } from '../../builders/contract/culvert-agent.ts'
import { until } from './wait.ts'
import { core, type World } from './world.ts'

export const deployments: ResourceType = { ...core('deployments', 'Deployment'), group: 'apps' }
const secrets = core('secrets', 'Secret')

/** The Deployment of a Tunnel, as far as tests read it. */
export interface TunnelDeployment extends KubeObject {
  readonly spec: {
    readonly replicas: number
    readonly template: {
      readonly metadata: Pick<KubeObject['metadata'], 'labels'>
      readonly spec: {
        readonly containers: readonly {
          readonly args: readonly string[]
          readonly image: string
          readonly ports?: readonly { readonly containerPort: number }[]
        }[]
        readonly volumes: readonly { readonly secret: { readonly secretName: string } }[]
      }
    }
  }
}

/** The Deployment of a Tunnel, once it exists. */
export async function deploymentOf(world: World, tunnel: string): Promise<TunnelDeployment> {
  const key = { namespace: world.namespace, name: `${tunnel}-tunnel` }
  const find = () => world.kube.get<TunnelDeployment>(deployments, key)
  return await until(`the Deployment of ${tunnel}`, find, { timeoutMs: 60_000 })
}

/** Reports what a Deployment's controller would, with so many agents connected; by default all of them. */
export async function reportAgents(world: World, tunnel: string, connected?: number): Promise<void> {
  const { metadata, spec } = await deploymentOf(world, tunnel)
  const { replicas } = spec
  const ready = connected ?? replicas
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: ready, availableReplicas: ready }
  const status = { observedGeneration: metadata.generation, ...counts }
  const key = { namespace: world.namespace, name: metadata.name }
  await world.kube.mergePatch(deployments, key, { status }, { subresource: 'status' })
}

/** The name of the Secret that has the key of the agents. */
export function keySecretOf({ spec }: TunnelDeployment): string {
  return spec.template.spec.volumes[0]?.secret.secretName ?? ''
}

/**
 * Runs `culvert agent` as the Deployment of a Tunnel describes it, with a port of loopback instead of the Service, and
 * resolves once its forwards are bound. Its key file goes when it has ended.
 */
export async function startAgentOf(world: World, tunnel: string, port: number): Promise<CulvertAgent> {
  const deployment = await deploymentOf(world, tunnel)
  const secret = await world.kube.get<KubeObject & { readonly data: Readonly<Record<string, string>> }>(secrets, {
    namespace: world.namespace,
    name: keySecretOf(deployment),
  })
  const folder = await mkdtemp(join(tmpdir(), 'culvert-tunnel-'))
  const file = join(folder, 'id')
  await writeFile(file, Buffer.from(secret?.data.id_ed25519 ?? '', 'base64'), { mode: 0o600 })
  const [command, ...flags] = (deployment.spec.template.spec.containers[0]?.args ?? []).map((arg) => {
    return arg
      .replace('/etc/culvert/key/id', file)
      .replace('0.0.0.0:8080', '127.0.0.1:0')
      .replace(/[\w-]+\.[\w-]+\.svc:\d+/, `127.0.0.1:${port}`)
  })
  if (command !== 'agent') throw new Error(`the Deployment runs ${command}, not an agent`)
  if (!flags.join(' ').includes(`127.0.0.1:${port}`)) throw new Error(`no Service in ${flags.join(' ')}`)
  const agent = CulvertAgent.spawn(...flags)
  void agent.exited().then(() => rm(folder, { recursive: true }))
  try {
    return await agent.online()
  } catch (error) {
    await agent.kill()
    throw error
  }
}
