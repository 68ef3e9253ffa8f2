import { account } from './account.ts'
import { agentIngress } from './agent-ingress.ts'
import { apiKey } from './api-key.ts'
import { backend } from './backend.ts'
import { botUser } from './bot-user.ts'
import { certificateAuthority } from './certificate-authority.ts'
import { clusterAccount } from './cluster-account.ts'
import { edge } from './edge.ts'
import { eventDestination } from './event-destination.ts'
import { eventSubscription } from './event-subscription.ts'
import { ipPolicy } from './ip-policy.ts'
import { ipPolicyRule } from './ip-policy-rule.ts'
import { ipRestriction } from './ip-restriction.ts'
import type { KindTestData, ManagedKindTestData } from './kind-test-data.ts'
import { reservedAddress } from './reserved-address.ts'
import { reservedDomain } from './reserved-domain.ts'
import { sshCertificateAuthority } from './ssh-certificate-authority.ts'
import { sshCredential } from './ssh-credential.ts'
import { sshHostCertificate } from './ssh-host-certificate.ts'
import { sshUserCertificate } from './ssh-user-certificate.ts'
import { tunnel } from './tunnel.ts'
import { tunnelCredential } from './tunnel-credential.ts'
import { tunnelSessionCommand } from './tunnel-session-command.ts'

/** Kinds whose resources have remote objects. To add one, add its file and a line here. */
export const managedKindTests: readonly ManagedKindTestData[] = [
  ipPolicy,
  ipPolicyRule,
  ipRestriction,
  backend,
  edge,
  reservedDomain,
  reservedAddress,
  agentIngress,
  sshCertificateAuthority,
  sshUserCertificate,
  sshHostCertificate,
  botUser,
  apiKey,
  tunnelCredential,
  sshCredential,
  certificateAuthority,
  eventDestination,
  eventSubscription,
]

/** Every kind that has a spec. */
export const kindTests: readonly KindTestData[] = [
  account,
  clusterAccount,
  tunnelSessionCommand,
  tunnel,
  ...managedKindTests,
]
