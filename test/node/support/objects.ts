import { GROUP } from '../../../src/managed/names.ts'
import type { KubernetesNode } from '../node.ts'
import { BROUGHT, QUICKSTART_NAMESPACE } from './quickstart.ts'

/** An object of the cluster. */
export interface ListedObject {
  readonly kind: string
  /** Empty if cluster-scoped. */
  readonly namespace: string
  readonly name: string
  /** `Kind namespace/name`, or `Kind name`. */
  readonly id: string
}

/** Objects that the cluster itself writes about others, with timing of its own. */
const PASSING = new Set(['events', 'events.events.k8s.io', 'endpoints', 'endpointslices.discovery.k8s.io'])
/** The cluster's own objects come and go: `kube-system`, `kube-node-lease`. */
const OWN_NAMESPACES = /^kube-/

/** Every listable object in the cluster, sorted. */
export async function allObjects(node: KubernetesNode): Promise<readonly ListedObject[]> {
  const types = (await node.kubectlOutput(['api-resources', '--verbs=list', '-o', 'name'])).trim().split('\n')
  const wanted = types.filter((type) => !PASSING.has(type)).join(',')
  const columns = '{range .items[*]}{.kind},{.metadata.namespace},{.metadata.name}{"\\n"}{end}'
  const lines = (await node.kubectlOutput(['get', wanted, '-A', '-o', `jsonpath=${columns}`])).trim().split('\n')
  return lines
    .map((line) => {
      const [kind = '', namespace = '', name = ''] = line.split(',')
      return { kind, namespace, name, id: namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}` }
    })
    .filter(({ namespace }) => !OWN_NAMESPACES.test(namespace))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Ids of the objects that were not there before and are not the quickstart's, except the CRDs; and the CRDs' names. */
export async function leftIn(
  node: KubernetesNode,
  before: readonly ListedObject[],
): Promise<{ readonly crds: readonly string[]; readonly others: readonly string[] }> {
  const known = new Set([...before.map(({ id }) => id), `APIService v1alpha1.${GROUP}`])
  const left = (await allObjects(node)).filter(({ id, kind, namespace, name }) => {
    return !known.has(id) && namespace !== QUICKSTART_NAMESPACE && !BROUGHT.has(`${kind} ${name}`)
  })
  const isCRD = ({ kind }: ListedObject): boolean => kind === 'CustomResourceDefinition'
  return {
    crds: left.filter(isCRD).map(({ name }) => name),
    others: left.filter((object) => !isCRD(object)).map(({ id }) => id),
  }
}
