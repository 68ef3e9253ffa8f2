import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const domains = 'management-api.md § Domains, addresses, ingress'
const provisioning = 'api-decisions.md § Certificate provisioning in the emulator'
const values = 'api-decisions.md § Values'

/** Agent ingresses and their delegation. */
export const ingressRules: readonly RuleFact[] = [
  {
    id: 'ingresses.uri',
    statement: 'the uri of an agent ingress is a path relative to the base address',
    source: values,
    due: 'now',
    operator: serverOnly('the operator builds addresses from ids and follows no uri of an object'),
  },
  {
    id: 'ingresses.delegation',
    statement: 'an agent ingress has name servers of its own to delegate to, and a sub-domain of it for each region',
    source: domains,
    due: 'now',
    operator: heldBy(
      'unit/kinds/agent-ingress.test.ts > name servers and regions are in the status in one order, whatever the order of the response',
    ),
  },
  {
    id: 'ingresses.domain',
    statement: 'the domain of an agent ingress is no wildcard, and not the domain of the service',
    source: values,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/bounds.test.ts > every bound in the spec of AgentIngress is kept by the apiserver, which names the field',
    ),
    refusal: { status: 400, names: ['domain'] },
  },
  {
    id: 'ingresses.ns-records',
    statement: 'an agent ingress gets its certificate when the NS records stand',
    source: provisioning,
    due: 'now',
    operator: heldBy('unit/kinds/agent-ingress.test.ts > a DNS error names the NS records to make, and stalls'),
  },
  {
    id: 'ingresses.renewal',
    statement: 'the certificate of an agent ingress is renewed at renews_at, and fails when the delegation is gone',
    source: provisioning,
    due: 'now',
    operator: heldBy(
      'unit/kinds/agent-ingress.test.ts > a failing renewal shows while the certificate in use still works',
    ),
  },
  {
    id: 'ingresses.policy-cleared',
    statement: 'clearing the policy of an agent ingress ends its certificate management',
    source: 'api-decisions.md § Behaviour',
    due: 'now',
    operator: heldBy(
      'unit/kinds/agent-ingress.test.ts > without a policy the ingress is ready, and no certificate is waited for',
    ),
  },
]
