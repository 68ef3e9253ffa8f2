import type { Manifest } from '../specs.ts'
import { credentialStories } from './credentials.ts'
import { domainStories } from './domains.ts'
import { edgeStories } from './edges.ts'
import type { EditStory } from './edit.ts'
import { eventStories } from './events.ts'
import { policyAndBackendStories } from './policies-and-backends.ts'

/** CRs that the stories refer to, in order of creation. */
export const EDIT_NEEDS: readonly Manifest[] = [
  ...['blue', 'green'].map((name) => need('Backend', name, { type: 'TunnelGroup', tunnelGroup: {} })),
  ...['office', 'home'].map((name) => need('IPPolicy', name, { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })),
  need('IPPolicy', 'open', { rulesSource: 'IPPolicyRules' }),
  need('ReservedDomain', 'shop', { domain: 'edit-shop.tunnel.example' }),
  need('ReservedDomain', 'wild', { domain: '*.edit-wild.tunnel.example' }),
  need('ReservedAddress', 'address', {}),
  ...['team', 'other'].map((name) => need('SSHCertificateAuthority', name, {})),
  ...['log', 'archive'].map((name) =>
    need('EventDestination', name, {
      type: 'Kinesis',
      kinesis: { streamARN: 'arn:a', auth: { type: 'Role', role: { roleARN: 'arn:b' } } },
    }),
  ),
]

function need(kind: string, name: string, spec: Record<string, unknown>): Manifest {
  return { kind, name, spec }
}

/** The stories of every kind. A new field of a spec needs its edits here. */
export const editStories: readonly EditStory[] = [
  ...policyAndBackendStories,
  ...edgeStories,
  ...domainStories,
  ...credentialStories,
  ...eventStories,
]
