import { parseArgs } from 'node:util'
import { type ControlPlane, startControlPlane } from './control-plane.ts'
import { ControlPlaneError } from './errors.ts'

const USAGE = `Starts a Kubernetes control plane on this machine and keeps it up until Ctrl-C.

  npm run controlplane -- [--kubeconfig FILE] [--audit-log]

  --kubeconfig FILE  use this cluster instead of starting one
  --audit-log        record every request in a file`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { kubeconfig: { type: 'string' }, 'audit-log': { type: 'boolean' }, help: { type: 'boolean' } },
  })
  if (values.help) {
    console.log(USAGE)
    return
  }
  await using controlPlane = await startControlPlane({
    onProgress: (message) => console.error(message),
    auditLog: values['audit-log'] ?? false,
    awaitControllers: false,
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
  })
  const interrupted = interruption()
  console.log(howToUse(controlPlane))
  await Promise.race([interrupted, controllersStarted(controlPlane)])
  await interrupted
  console.error('Stopping')
}

/** Says when the controllers work, if they do not yet. */
async function controllersStarted({ controllersPending }: ControlPlane): Promise<void> {
  if (controllersPending === undefined) return
  console.error('The controllers do not work yet: until then, namespaces are not emptied and dependents not deleted')
  await controllersPending
  console.error('The controllers work')
}

function howToUse(controlPlane: ControlPlane): string {
  const { kubeconfigPath, kubectlPath, server, auditLogPath } = controlPlane
  return [
    `Server      ${server}`,
    `Kubeconfig  ${kubeconfigPath}`,
    ...(auditLogPath === undefined ? [] : [`Audit log   ${auditLogPath}`]),
    '',
    'In another terminal:',
    '',
    `  export KUBECONFIG=${shellQuote(kubeconfigPath)}`,
    `  alias kubectl=${shellQuote(kubectlPath)}`,
    '  kubectl get namespaces',
    '',
    'Ctrl-C ends this.',
  ].join('\n')
}

function shellQuote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

const PARENT_CHECK_MILLISECONDS = 500

/**
 * Resolves when the process is asked to stop, or when its parent has ended: npm's shell forwards no signal. A second
 * request ends it at once; the watchdog then cleans up.
 */
function interruption(): Promise<void> {
  const parent = process.ppid
  return new Promise((resolve) => {
    const interrupted = (): void => {
      clearInterval(parentCheck)
      resolve()
    }
    const parentCheck = setInterval(() => {
      if (process.ppid !== parent) interrupted()
    }, PARENT_CHECK_MILLISECONDS)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, interrupted)
  })
}

try {
  await main()
} catch (error) {
  if (!(error instanceof ControlPlaneError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
