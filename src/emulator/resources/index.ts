import type { Resource } from '../objects/resource.ts'
import { agentIngresses } from './agent-ingresses.ts'
import { failoverBackends, httpResponseBackends, tunnelGroupBackends, weightedBackends } from './backends.ts'
import { certificateAuthorities, sshCertificateAuthorities } from './certificate-authorities.ts'
import { apiKeys, botUsers, credentials, sshCredentials } from './credentials.ts'
import { tcpEdges, tlsEdges } from './edges.ts'
import { eventDestinations } from './event-destinations.ts'
import { eventSubscriptions } from './event-subscriptions.ts'
import { ipPolicies, ipPolicyRules, ipRestrictions } from './ip-policies.ts'
import { reservedAddrs, reservedDomains } from './reservations.ts'
import { endpointConfigurations, tlsCertificates, users } from './seeded.ts'
import { sshHostCertificates, sshUserCertificates } from './ssh-certificates.ts'
import { agents, tunnelSessions, tunnels } from './tunnel-sessions.ts'

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
