import type { ResourceType } from '../kube/types.ts'
import { FINALIZER, KEPT_KEY_DATA, KEPT_KEY_PREFIX } from './names.ts'

/**
 * Field manager of the writes that people are advised to make. Flux removes what managers with names that begin with
 * `kubectl` have set, kubectl's own default (docs/gitops.md).
 */
const FIELD_MANAGER = 'culvert-user'

/** A command that writes to a resource: every piece of advice that contains one gets it here. */
export function writeCommand(verb: 'annotate' | 'edit' | 'patch', resource: string, rest = ''): string {
  return `kubectl ${verb} ${resource} --field-manager=${FIELD_MANAGER}${rest === '' ? '' : ` ${rest}`}`
}

/** `edges.culvert.dev/shop -n web`: a resource as kubectl's arguments name it. */
export function kubectlName(
  { group, plural }: Pick<ResourceType, 'group' | 'plural'>,
  { name, namespace }: { readonly name: string; readonly namespace?: string | undefined },
): string {
  return `${plural}.${group}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`
}

/**
 * Ends the deletion of a resource, whose object stays: applied again, the resource takes it back. Unlike a finalizer
 * that is removed by hand, this also keeps its Secrets and DNSEndpoint.
 */
export function retainCommand(resource: string): string {
  return writeCommand('patch', resource, `--type=merge -p '{"spec":{"deletionPolicy":"Retain"}}'`)
}

/** Ends the deletion of a resource without an object: removes our finalizer, and none of others. */
export function releaseCommand(resource: string, finalizers: readonly string[]): string {
  const path = `/metadata/finalizers/${finalizers.indexOf(FINALIZER)}`
  const patch = [
    { op: 'test', path, value: FINALIZER },
    { op: 'remove', path },
  ]
  return writeCommand('patch', resource, `--type=json -p '${JSON.stringify(patch)}'`)
}

/** Puts a key of an account, from standard input, where deletions find it once the account's own Secret is gone. */
export function keepKeyCommand(accountUID: string, operatorNamespace: string): string {
  const name = `${KEPT_KEY_PREFIX}${accountUID}`
  return `kubectl create secret generic ${name} -n ${operatorNamespace} --from-file=${KEPT_KEY_DATA}=/dev/stdin`
}

/** Stores one value, from standard input, in a Secret or ConfigMap, which is created if need be and keeps its others. */
export function storeCommand(
  source: 'Secret' | 'ConfigMap',
  { name, namespace, key }: { readonly name: string; readonly namespace: string; readonly key: string },
): string {
  const type = source === 'Secret' ? 'secret generic' : 'configmap'
  const value = `kubectl create ${type} ${name} -n ${namespace} --from-file=${key}=/dev/stdin --dry-run=client -o yaml`
  return `${value} | kubectl apply --server-side --force-conflicts --field-manager=${FIELD_MANAGER} -f -`
}
