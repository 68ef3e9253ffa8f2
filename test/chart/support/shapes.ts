import { merged, type Values, valuesAt } from './helm.ts'
import { aroundCases } from './value-cases/around.ts'
import type { ValueCase } from './value-cases/case.ts'
import { monitoringCases } from './value-cases/monitoring.ts'
import { operatorCases } from './value-cases/operator.ts'

/** Cases that exclude each other, or that disable what others show. */
const APART: ReadonlySet<string> = new Set(
  'admissionPolicy.access.enabled admissionPolicy.operator.enabled watchNamespaces caBundle.secret leaderElection.enabled replicas rbac.create rbac.holdNamespaces rbac.userRoles service.enabled serviceAccount.create uninstall.check podDisruptionBudget.enabled image.tag networkPolicy.ingress'.split(
    ' ',
  ),
)

const everything = [...operatorCases, ...aroundCases, ...monitoringCases]
  .filter(({ path, only }) => !APART.has(path) && only === undefined)
  .reduce<Values>(withCase, {})

/** Values for charts of every shape. */
export const shapes: readonly (readonly [name: string, values: Values])[] = [
  ['as it comes', {}],
  ['with everything on', everything],
  ['in watched namespaces', { watchNamespaces: ['shop', 'web'] }],
  ['in watched namespaces, with everything on', merged(everything, { watchNamespaces: ['shop', 'web'] })],
  ['with as little as can be', little()],
]

function withCase(values: Values, { path, to, beside }: ValueCase): Values {
  return merged(merged(values, beside ?? {}), valuesAt(path, to))
}

function little(): Values {
  return {
    replicas: 1,
    crds: { install: false },
    rbac: { create: false, userRoles: false },
    admissionPolicy: { operator: { enabled: false } },
    serviceAccount: { create: false },
    service: { enabled: false },
    uninstall: { check: false },
    topologySpreadConstraints: [],
  }
}
