import type { Collection } from './types.ts'

/** Every collection of `management-api.md § Standard operations` and § Tunnel sessions. */
export const collections = {
  apiKeys: { path: 'api_keys', listKey: 'keys', oneTimeFields: ['token'] },
  credentials: { path: 'credentials', listKey: 'credentials', oneTimeFields: ['token'] },
  sshCredentials: { path: 'ssh_credentials', listKey: 'ssh_credentials' },
  botUsers: { path: 'bot_users', listKey: 'bot_users' },
  ipPolicies: { path: 'ip_policies', listKey: 'ip_policies' },
  ipPolicyRules: { path: 'ip_policy_rules', listKey: 'ip_policy_rules' },
  ipRestrictions: { path: 'ip_restrictions', listKey: 'ip_restrictions' },
  reservedDomains: { path: 'reserved_domains', listKey: 'reserved_domains' },
  reservedAddrs: { path: 'reserved_addrs', listKey: 'reserved_addrs' },
  agentIngresses: { path: 'agent_ingresses', listKey: 'ingresses' },
  tcpEdges: { path: 'edges/tcp', listKey: 'tcp_edges' },
  tlsEdges: { path: 'edges/tls', listKey: 'tls_edges' },
  tunnelGroupBackends: { path: 'backends/tunnel_group', listKey: 'backends' },
  httpResponseBackends: { path: 'backends/http_response', listKey: 'backends' },
  weightedBackends: { path: 'backends/weighted', listKey: 'backends' },
  failoverBackends: { path: 'backends/failover', listKey: 'backends' },
  sshCertificateAuthorities: { path: 'ssh_certificate_authorities', listKey: 'ssh_certificate_authorities' },
  sshUserCertificates: { path: 'ssh_user_certificates', listKey: 'ssh_user_certificates' },
  sshHostCertificates: { path: 'ssh_host_certificates', listKey: 'ssh_host_certificates' },
  certificateAuthorities: { path: 'certificate_authorities', listKey: 'certificate_authorities' },
  eventDestinations: { path: 'event_destinations', listKey: 'event_destinations' },
  eventSubscriptions: { path: 'event_subscriptions', listKey: 'event_subscriptions' },
  tunnelSessions: { path: 'tunnel_sessions', listKey: 'tunnel_sessions' },
} as const satisfies Readonly<Record<string, Collection>>
