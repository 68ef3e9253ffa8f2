import { ControlPlaneError } from '../../controlplane/errors.ts'
import { buildImage } from '../image/build-image.ts'
import { NodeError } from './errors.ts'
import { KubernetesNode } from './node.ts'

/** Starts a node with the project's image on it, and keeps it until Ctrl-C. */
async function main(): Promise<void> {
  const onProgress = (message: string): void => console.error(message)
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  await using node = await KubernetesNode.start(onProgress)
  onProgress('Bringing the image')
  const image = await buildImage({ onProgress })
  await node.importImage(image)
  console.log(howToUse(node, image.name))
  await interrupted
  onProgress('Stopping')
}

function howToUse({ namespace, kubeconfig, kubectlPath, folder }: KubernetesNode, image: string): string {
  return [
    `Kubeconfig  ${kubeconfig}`,
    `Image       ${image}, which charts must not pull: --set image.repository=localhost/culvert,image.tag=test,image.pullPolicy=Never`,
    `Logs        ${folder.logFolder}`,
    '',
    'The node has a network of its own. In another terminal, as root:',
    '',
    `  nsenter -t ${namespace.pid} -m -n -p env KUBECONFIG=${kubeconfig} bash`,
    `  alias kubectl=${kubectlPath}`,
    '  kubectl get pods -A',
    '',
    'Ctrl-C ends this.',
  ].join('\n')
}

try {
  await main()
} catch (error) {
  if (!(error instanceof NodeError || error instanceof ControlPlaneError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
