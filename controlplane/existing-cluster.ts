import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { ControlPlane } from './control-plane.ts'
import { ControlPlaneError } from './errors.ts'
import { createKubectl, findKubectl } from './kubectl.ts'

/**
 * A cluster run by others, such as one of kind, instead of one started here. Its kubeconfig should be an
 * administrator's: the suites create namespaces, CRDs and roles.
 *
 * @throws ControlPlaneError `KUBECONFIG_INVALID`, `KUBECTL_MISSING`
 */
export async function openExistingCluster(kubeconfigPath: string): Promise<ControlPlane> {
  const server = serverOfCurrentContext(await readKubeconfig(kubeconfigPath), kubeconfigPath)
  const kubectl = createKubectl({
    path: await findKubectl(process.env.PATH ?? ''),
    kubeconfig: kubeconfigPath,
  })
  const stop = async (): Promise<void> => {}
  return {
    kubeconfigPath,
    server,
    adminToken: undefined,
    auditLogPath: undefined,
    kubectlPath: kubectl.path,
    pids: [],
    controllersPending: undefined,
    kubectl: kubectl.run,
    restartApiserver: () => Promise.reject(notOwned()),
    killApiserver: () => Promise.reject(notOwned()),
    startApiserver: () => Promise.reject(notOwned()),
    copyData: () => Promise.reject(notOwned()),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function notOwned(): ControlPlaneError {
  return new ControlPlaneError(
    'NOT_OWNED',
    'The servers of an existing cluster are not stopped, started or copied from here',
  )
}

async function readKubeconfig(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ControlPlaneError('KUBECONFIG_INVALID', `The kubeconfig ${path} cannot be read`, { cause })
  }
}

/** Reads the server of a kubeconfig's current context. The error names the file and what is missing, but no content. */
export function serverOfCurrentContext(text: string, path: string): string {
  const config = parseYaml(text, path)
  const contextName = field(config, 'current-context')
  const context = field(named(field(config, 'contexts'), contextName), 'context')
  const cluster = field(named(field(config, 'clusters'), field(context, 'cluster')), 'cluster')
  const server = field(cluster, 'server')
  if (typeof server === 'string' && server !== '') return server
  throw new ControlPlaneError('KUBECONFIG_INVALID', `The kubeconfig ${path} has no server for its current-context`)
}

function parseYaml(text: string, path: string): unknown {
  try {
    return parse(text)
  } catch {
    // Without the cause: a YAML error quotes the line, which may contain a credential.
    throw new ControlPlaneError('KUBECONFIG_INVALID', `The kubeconfig ${path} is not YAML`)
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function named(list: unknown, name: unknown): unknown {
  return Array.isArray(list) ? list.find((entry) => field(entry, 'name') === name) : undefined
}
