import { readFile } from 'node:fs/promises'
import type { ControlPlanePrograms } from '../../controlplane/build.ts'
import { apiserverArguments, controllersArguments, etcdArguments } from '../../controlplane/component-arguments.ts'
import { type ControlPlaneFolder, writeKubeconfigs } from '../../controlplane/folder.ts'
import { readWhenThere } from '../../controlplane/readiness.ts'
import type { NodeFolder } from './folder.ts'
import { ComponentTokens, SERVER } from './kubeconfigs.ts'
import type { NodeNamespace } from './namespace.ts'
import { API_PORT, NODE_ADDRESS } from './network.ts'
import { NodeProcess } from './node-process.ts'
import type { NodePrograms } from './programs.ts'

/** Flags of the other control plane that differ for a node. */
const REPLACED = [
  '--bind-address=',
  '--advertise-address=',
  '--authorization-mode=',
  '--enable-admission-plugins=',
  '--endpoint-reconciler-type=',
]

/** The node's control plane, inside its namespaces: the servers of `controlplane`, with all controllers. */
export interface NodeControlPlane {
  readonly adminKubeconfig: string
  /** CA of the API server. */
  readonly ca: Buffer
  readonly tokens: ComponentTokens
}

/** Starts it and waits until it serves; `opened` stops it. */
export async function startNodeControlPlane(
  namespace: NodeNamespace,
  node: NodeFolder,
  folder: ControlPlaneFolder,
  programs: ControlPlanePrograms & Pick<NodePrograms, 'kubenode'>,
  opened: AsyncDisposableStack,
): Promise<NodeControlPlane> {
  const tokens = await ComponentTokens.write(folder.tokenFile)
  const start = async (name: string, args: readonly string[], program = programs.controlplane): Promise<NodeProcess> =>
    opened.use(await NodeProcess.start(namespace, node, { name, program, args: [name, ...args] }))
  await start('etcd', etcdArguments(folder))
  const apiserver = await start('kube-apiserver', nodeApiserverArguments(folder))
  await apiserver.until('there is its certificate', async () => {
    return (await readWhenThere(folder.apiserverCertificateFile)) !== undefined
  })
  const ca = await readFile(folder.apiserverCertificateFile)
  await writeKubeconfigs(folder, SERVER, ca)
  const asked = ['--kubeconfig', folder.adminKubeconfig, 'get', '--raw']
  const answers = async (path: string): Promise<boolean> =>
    (await namespace.run(programs.kubectl, [...asked, path])).code === 0
  await apiserver.until('it is ready', () => answers('/readyz'))
  const controllers = await start('kube-controller-manager', controllerManagerArguments(folder), programs.kubenode)
  await controllers.until('they work', () => answers('/api/v1/namespaces/default/serviceaccounts/default'))
  return { adminKubeconfig: folder.adminKubeconfig, ca, tokens }
}

function nodeApiserverArguments(folder: ControlPlaneFolder): string[] {
  const kept = apiserverArguments(folder, { port: API_PORT, auditLog: false }).filter(
    (argument) => !REPLACED.some((flag) => argument.startsWith(flag)),
  )
  return [
    ...kept,
    '--bind-address=0.0.0.0',
    `--advertise-address=${NODE_ADDRESS}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement',
    '--kubelet-preferred-address-types=InternalIP',
  ]
}

/** Client limits are raised, so that emptying a namespace does not wait for them. */
function controllerManagerArguments(folder: ControlPlaneFolder): string[] {
  return [
    ...controllersArguments(folder, ['*']),
    '--leader-elect=false',
    '--secure-port=0',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    '--profiling=false',
  ]
}
