import type { KubernetesNode } from '../node.ts'

/** An object of the cluster. */
export interface ListedObject {
  readonly kind: string
  /** Empty for one of the whole cluster. */
  readonly namespace: string
  readonly name: string
  /** `Kind namespace/name`, or `Kind name`. */
  readonly id: string
}

/** What the cluster itself writes about others, at times of its own. */
const PASSING = new Set(['events', 'events.events.k8s.io', 'endpoints', 'endpointslices.discovery.k8s.io'])
/** What the cluster keeps for itself comes and goes. */
const OWN_NAMESPACE = 'kube-system'

/** Everything in the cluster that can be listed, sorted. @throws Error with what kubectl said */
export async function allObjects(node: KubernetesNode): Promise<readonly ListedObject[]> {
  const types = (await output(node, ['api-resources', '--verbs=list', '-o', 'name'])).trim().split('\n')
  const wanted = types.filter((type) => !PASSING.has(type)).join(',')
  const columns = '{range .items[*]}{.kind},{.metadata.namespace},{.metadata.name}{"\\n"}{end}'
  const lines = (await output(node, ['get', wanted, '-A', '-o', `jsonpath=${columns}`])).trim().split('\n')
  return lines
    .map((line) => {
      const [kind = '', namespace = '', name = ''] = line.split(',')
      return { kind, namespace, name, id: namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}` }
    })
    .filter(({ namespace }) => namespace !== OWN_NAMESPACE)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function output(node: KubernetesNode, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await node.kubectl(args)
  if (code !== 0) throw new Error(`kubectl ${args[0]}: ${stderr}`)
  return stdout
}
