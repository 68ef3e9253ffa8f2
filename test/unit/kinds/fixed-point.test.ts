import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { agentIngress } from '../../../src/kinds/agent-ingress.ts'
import { apiKey } from '../../../src/kinds/api-key.ts'
import { backend } from '../../../src/kinds/backend.ts'
import { botUser } from '../../../src/kinds/bot-user.ts'
import { certificateAuthority } from '../../../src/kinds/certificate-authority.ts'
import { edge } from '../../../src/kinds/edge.ts'
import { eventDestination } from '../../../src/kinds/event-destination.ts'
import { eventSubscription } from '../../../src/kinds/event-subscription.ts'
import { ipPolicyRule } from '../../../src/kinds/ip-policy-rule.ts'
import { ipRestriction } from '../../../src/kinds/ip-restriction.ts'
import { reservedAddress } from '../../../src/kinds/reserved-address.ts'
import { reservedDomain } from '../../../src/kinds/reserved-domain.ts'
import { sshCertificateAuthority } from '../../../src/kinds/ssh-certificate-authority.ts'
import { sshCredential } from '../../../src/kinds/ssh-credential.ts'
import { sshHostCertificate } from '../../../src/kinds/ssh-host-certificate.ts'
import { sshUserCertificate } from '../../../src/kinds/ssh-user-certificate.ts'
import { tunnelCredential } from '../../../src/kinds/tunnel-credential.ts'
import type { CommonSpec, CommonStatus } from '../../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../../src/managed/descriptor/descriptor.ts'
import type { Fields } from '../../../src/managed/descriptor/fields.ts'
import { intendedModules, settledModules } from '../../../src/managed/plan/modules.ts'
import { plan, planCreate } from '../../../src/managed/plan/plan.ts'
import { stored } from '../../builders/kinds/api-model.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'
import {
  addressSpec,
  apiKeySpec,
  authoritySpec,
  backendSpecs,
  botSpec,
  credentialSpec,
  destinationSpec,
  domainSpec,
  edgeSpecs,
  hostCertificateSpec,
  ingressSpec,
  policyRuleSpec,
  restrictionSpec,
  sshAuthoritySpec,
  sshCredentialSpec,
  subscriptionSpec,
  userCertificateSpec,
} from '../../builders/kinds/specs.ts'

const objects = Object.fromEntries(
  ['a', 'b', 'c', 'd'].flatMap((name): readonly [string, RemoteObject][] => [
    [`ReservedDomain/${name}`, { id: `rd_${name}`, domain: `${name}.example.org` }],
    [`ReservedAddress/${name}`, { id: `ra_${name}`, addr: `1.tcp.example.net:1000${name.charCodeAt(0)}` }],
  ]),
)

/** One CR at the API, updated like the reconciler does. */
class Life<Spec extends CommonSpec> {
  readonly #descriptor: ManagedDescriptor<Spec>
  #remote: RemoteObject | undefined
  #status: CommonStatus & Fields = {}

  constructor(descriptor: ManagedDescriptor<Spec>) {
    this.#descriptor = descriptor
  }

  /** The body of the last PATCH; undefined if none was needed. */
  update(spec: Spec): Fields | undefined {
    if (this.#remote === undefined) {
      this.#remote = this.#created(spec)
      this.#seen(spec, this.#remote)
    }
    const [first] = this.#plan(spec, this.#remote)
    // The object that replaces this one has the complete spec from the start.
    if (first?.type === 'replace') this.#remote = this.#created(spec)
    const [operation] = first?.type === 'replace' ? this.#plan(spec, this.#remote) : [first]
    if (operation?.type !== 'update') return undefined
    this.#remote = stored(operation.body, this.#remote)
    this.#seen(spec, this.#remote)
    return operation.body
  }

  #seen(spec: Spec, remote: RemoteObject): void {
    const { internal } = this.#status
    const kept = { ...internal, ...intendedModules(this.#descriptor.modules, spec, internal ?? {}) }
    const after = { ...kept, ...settledModules(this.#descriptor.modules, remote, kept) }
    this.#status = { ...this.#descriptor.status.shown(remote, kept), internal: after }
  }

  left(spec: Spec): readonly unknown[] {
    return this.#remote === undefined ? ['create'] : this.#plan(spec, this.#remote)
  }

  #created(spec: Spec): RemoteObject {
    return stored(planCreate(this.#descriptor, this.#desired(spec), 'marker'))
  }

  #desired(spec: Spec) {
    return desiredOf({ spec, status: this.#status, objects })
  }

  #plan(spec: Spec, remote: RemoteObject) {
    const context = { markedMetadata: 'marker', inputsChanged: false }
    return plan(this.#descriptor, this.#desired(spec), { remote, children: [] }, context)
  }
}

function settlesAtOnce<Spec extends CommonSpec>(descriptor: ManagedDescriptor<Spec>, spec: fc.Arbitrary<Spec>): void {
  fc.assert(
    fc.property(fc.array(spec, { minLength: 1, maxLength: 4 }), (specs) => {
      const life = new Life(descriptor)
      for (const next of specs) {
        const sent = Object.keys(life.update(next) ?? {})
        expect(sent.filter((field) => descriptor.fields.createOnly.includes(field))).toEqual([])
        expect(life.left(next)).toEqual([])
      }
    }),
    { numRuns: 300 },
  )
}

describe('after one write nothing is left to do, whatever the spec was before, for', () => {
  test.each(Object.entries(backendSpecs))('a Backend of type %s', (_type, spec) => settlesAtOnce(backend, spec))
  test.each(Object.entries(edgeSpecs))('a %s Edge', (_protocol, spec) => settlesAtOnce(edge, spec))
  test('a ReservedDomain', () => settlesAtOnce(reservedDomain, domainSpec))
  test('a ReservedAddress', () => settlesAtOnce(reservedAddress, addressSpec))
  test('an IPPolicyRule', () => settlesAtOnce(ipPolicyRule, policyRuleSpec))
  test('an IPRestriction', () => settlesAtOnce(ipRestriction, restrictionSpec))
  test('an SSHCertificateAuthority', () => settlesAtOnce(sshCertificateAuthority, sshAuthoritySpec))
  test('an SSHCredential', () => settlesAtOnce(sshCredential, sshCredentialSpec))
  test('an SSHUserCertificate', () => settlesAtOnce(sshUserCertificate, userCertificateSpec))
  test('an SSHHostCertificate', () => settlesAtOnce(sshHostCertificate, hostCertificateSpec))
  test('an AgentIngress', () => settlesAtOnce(agentIngress, ingressSpec))
  test('a BotUser', () => settlesAtOnce(botUser, botSpec))
  test('an APIKey', () => settlesAtOnce(apiKey, apiKeySpec))
  test('a TunnelCredential', () => settlesAtOnce(tunnelCredential, credentialSpec))
  test('a CertificateAuthority', () => settlesAtOnce(certificateAuthority, authoritySpec))
  test('an EventDestination', () => settlesAtOnce(eventDestination, destinationSpec))
  test('an EventSubscription', () => settlesAtOnce(eventSubscription, subscriptionSpec))
})
