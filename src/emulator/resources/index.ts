import { agentIngresses } from './agent-ingresses.ts'
import { agents, tunnels } from './agents.ts'
import { apiKeys } from './api-keys.ts'
import { botUsers } from './bot-users.ts'
import { certificateAuthorities } from './certificate-authorities.ts'
import { credentials } from './credentials.ts'
import { tcpEdges, tlsEdges } from './edges.ts'
import { eventDestinations } from './event-destinations.ts'
import { eventSubscriptions } from './event-subscriptions.ts'
import { failoverBackends } from './failover-backends.ts'
import { httpResponseBackends } from './http-response-backends.ts'
import { ipPolicies } from './ip-policies.ts'
import { ipPolicyRules } from './ip-policy-rules.ts'
import { ipRestrictions } from './ip-restrictions.ts'
import { reservedAddrs } from './reserved-addrs.ts'
import { reservedDomains } from './reserved-domains.ts'
import type { Resource } from './resource.ts'
import { endpointConfigurations, tlsCertificates, users } from './seeded.ts'
import { sshCertificateAuthorities } from './ssh-certificate-authorities.ts'
import { sshHostCertificates, sshUserCertificates } from './ssh-certificates.ts'
import { sshCredentials } from './ssh-credentials.ts'
import { tunnelGroupBackends } from './tunnel-group-backends.ts'
import { tunnelSessions } from './tunnel-sessions.ts'
import { weightedBackends } from './weighted-backends.ts'

/** Every collection. */
export const RESOURCES: readonly Resource[] = [
  apiKeys,
  credentials,
  sshCredentials,
  botUsers,
  ipPolicies,
  ipPolicyRules,
  ipRestrictions,
  reservedDomains,
  reservedAddrs,
  agentIngresses,
  tcpEdges,
  tlsEdges,
  tunnelGroupBackends,
  httpResponseBackends,
  weightedBackends,
  failoverBackends,
  eventDestinations,
  eventSubscriptions,
  sshCertificateAuthorities,
  sshUserCertificates,
  sshHostCertificates,
  certificateAuthorities,
  tunnelSessions,
  tunnels,
  agents,
  tlsCertificates,
  endpointConfigurations,
  users,
]
