import { join } from 'node:path'
import type { KindsRegistry } from '../src/managed/kinds-registry.ts'
import { type Permission, rulesOf } from '../src/managed/permissions.ts'
import { leftoverPermissions } from '../src/managed/uninstall/leftovers.ts'
import { toYaml } from './crds/yaml.ts'
import {
  companionPermissions,
  installationPermission,
  metricsAuthenticationPermissions,
  ownNamespacePermissions,
  servicePermissions,
  tunnelPermissions,
  watchedPermissions,
} from './permissions/operator.ts'
import { userRoles } from './permissions/users.ts'

/** Folder of the chart's rules. */
export const RBAC_FOLDER = join('charts', 'culvert', 'files', 'rbac')

/** The rules of every role in the chart, one file each. */
export function rbacFiles(kinds: KindsRegistry): ReadonlyMap<string, string> {
  const watched = (scope: 'cluster' | 'namespace', watchSecrets: boolean): readonly Permission[] =>
    watchedPermissions(kinds, { scope, watchSecrets, dnsEndpoints: false })
  const { view, edit, admin } = userRoles(kinds)
  const roles: readonly (readonly [name: string, permissions: readonly Permission[]])[] = [
    ['cluster', watched('cluster', true)],
    ['cluster-no-watch-secrets', watched('cluster', false)],
    ['namespace', watched('namespace', true)],
    ['namespace-no-watch-secrets', watched('namespace', false)],
    ['dns-endpoints', companionPermissions(kinds)],
    ['tunnels', tunnelPermissions(kinds)],
    ['services', servicePermissions(kinds)],
    ['own-namespace', ownNamespacePermissions],
    ['installation', [installationPermission]],
    ['metrics-authentication', metricsAuthenticationPermissions],
    ['leftovers-cluster', leftoverPermissions(kinds, 'cluster')],
    ['leftovers-namespace', leftoverPermissions(kinds, 'namespace')],
    ['user-view', view],
    ['user-edit', edit],
    ['user-admin', admin],
  ]
  return new Map(
    roles.map(([name, permissions]) => [join(RBAC_FOLDER, `${name}.yaml`), toYaml({ rules: rulesOf(permissions) })]),
  )
}
