import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const domains = 'management-api.md § Domains, addresses, ingress'
const provisioning = 'api-decisions.md § Certificate provisioning in the emulator'
const values = 'api-decisions.md § Values'

/** Agent ingresses and their delegation. */
export const ingressRules = {
  'ingresses.uri': {
    statement: 'the uri of an agent ingress is a path relative to the base address',
    source: values,
    operator: serverOnly('the operator builds addresses from ids and follows no uri of an object'),
  },
  'ingresses.delegation': {
    statement: 'an agent ingress has name servers of its own to delegate to, and a sub-domain of it for each region',
    source: domains,
    operator: heldBy('unit/kinds/agent-ingress.test.ts'),
  },
  'ingresses.domain': {
    statement: 'the domain of an agent ingress is no wildcard, and not the domain of the service',
    source: values,
    operator: heldBy('cluster/kinds/bounds.test.ts'),
  },
  'ingresses.ns-records': {
    statement: 'an agent ingress gets its certificate when the NS records stand',
    source: provisioning,
    operator: heldBy('unit/kinds/agent-ingress.test.ts'),
  },
  'ingresses.renewal': {
    statement: 'the certificate of an agent ingress is renewed at renews_at, and fails when the delegation is gone',
    source: provisioning,
    operator: heldBy('unit/kinds/agent-ingress.test.ts'),
  },
  'ingresses.policy-cleared': {
    statement: 'clearing the policy of an agent ingress ends its certificate management',
    source: 'api-decisions.md § Behaviour',
    operator: heldBy('unit/kinds/agent-ingress.test.ts'),
  },
} satisfies Rules
