import { join } from 'node:path'
import type { KindsRegistry } from '../src/managed/kinds-registry.ts'
import { type Permission, resourceOf } from '../src/managed/permissions.ts'
import { code, generatedMarkdownHeader, section, table } from './crds/markdown.ts'
import {
  companionPermissions,
  holdPermission,
  installationPermission,
  metricsAuthenticationPermissions,
  ownNamespacePermissions,
  servicePermissions,
  tunnelPermissions,
  watchedPermissions,
} from './permissions/operator.ts'
import { operatorPolicy } from './permissions/operator-policy.ts'
import { describedWrites } from './permissions/operator-writes.ts'
import { sentPaths } from './permissions/shape.ts'

export const PERMISSIONS_PAGE = join('docs', 'permissions.md')

/** Every permission of the operator with its reason, in Markdown. */
export function permissionsPage(kinds: KindsRegistry): string {
  const most = { watchSecrets: true, dnsEndpoints: false }
  const everywhere = watchedPermissions(kinds, { ...most, scope: 'cluster' })
  const inNamespaces = watchedPermissions(kinds, { ...most, scope: 'namespace' })
  const among = new Set(inNamespaces.map(keyOf))
  const clusterOnly = everywhere.filter((permission) => !among.has(keyOf(permission)))
  return [
    `${generatedMarkdownHeader}\n# Permissions of the operator\n`,
    '\nWhat changes with `--watch-namespace` and `--no-watch-secrets` is in [security.md](security.md).\n',
    section('In what it watches: the whole cluster, or each namespace', tableOf(inNamespaces)),
    section('In what it watches, with `--dns-endpoints` only', tableOf(companionPermissions(kinds))),
    section('In what it watches, with `--tunnels` only', tableOf(tunnelPermissions(kinds))),
    section('In what it watches, with `--services` only', tableOf(servicePermissions(kinds))),
    section('In the whole cluster only, without `--watch-namespace`', tableOf(clusterOnly)),
    section('In its own namespace', tableOf(ownNamespacePermissions)),
    section(
      'In the cluster with `--watch-namespace`, unless `--installation` is given',
      tableOf([installationPermission]),
    ),
    section('In the cluster with `--metrics-authentication`', tableOf(metricsAuthenticationPermissions)),
    section(
      'In each namespace with `--hold-namespaces`, in addition to the permissions for what it watches',
      tableOf([holdPermission('<operator namespace>-<name>-hold')]),
    ),
    section('What the admission policy lets it write', admissionOf(kinds)),
  ].join('')
}

function admissionOf(kinds: KindsRegistry): string {
  const { validations } = operatorPolicy(kinds)
  return [
    'RBAC tells objects apart by type and name only. With `admissionPolicy.operator` of the chart, the API server refuses every write by the ServiceAccount of the operator',
    'that does not keep to the following, whatever its roles grant ([security.md](security.md#the-admission-policy-for-the-operator)).\n',
    ...validations.map(({ message }) => `- ${message[0]?.toUpperCase()}${message.slice(1)}.`),
    '\nThese are the fields. `*` is an item of a list or a key of a map; everything else must stay as it is stored.\n',
    fieldsOf(kinds),
  ].join('\n')
}

/** The fields of each object that the operator writes; objects with the same ones share a row. */
function fieldsOf(kinds: KindsRegistry): string {
  const writes = describedWrites(kinds).map(({ type: { plural }, subresource, shape }) => ({
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    fields: sentPaths(shape).map((path) => code(path.slice(1))),
  }))
  return table(
    ['Objects', 'Fields'],
    [...Map.groupBy(writes, ({ fields }) => fields.join(', '))].map(([fields, alike]) => {
      return [[...new Set(alike.map(({ resource }) => code(resource)))].join(', '), fields]
    }),
  )
}

function keyOf(permission: Permission): string {
  return JSON.stringify([permission.type.group, resourceOf(permission), permission.verbs, permission.names])
}

/** Permissions with the same reason share a row. */
function tableOf(permissions: readonly Permission[]): string {
  const rows = new Map<string, Permission[]>()
  for (const permission of permissions) {
    const { verbs, why, names, type } = permission
    const key = JSON.stringify([verbs, why, names, type.group])
    rows.set(key, [...(rows.get(key) ?? []), permission])
  }
  return table(
    ['Group', 'Resources', 'Verbs', 'Why'],
    [...rows.values()].map((alike) => {
      const [{ type, verbs, why, names = [] } = alike[0] as Permission] = alike
      const resources = alike.map((each) => code(resourceOf(each)))
      const only = names.length === 0 ? '' : `, only ${names.map(code).join(', ')}`
      return [type.group === '' ? '(core)' : type.group, `${resources.join(', ')}${only}`, verbs.join(', '), why]
    }),
  )
}
