import {
  type ComposedDescriptor,
  tunnelRootRules,
  tunnelSpecFields,
  tunnelSpecRules,
  tunnelStatusFields,
} from '../managed/descriptor/tunnel.ts'
import { object } from '../schema/define.ts'
import { defineKind, experimental } from '../schema/definition.ts'
import type { BackendSpec } from './backend/backend-schema.ts'
import { conditionColumn, stateColumns, textColumn } from './building-blocks/columns.ts'
import { common } from './building-blocks/plain-kind.ts'

const definition = defineKind({
  ...common,
  kind: 'Tunnel',
  plural: 'tunnels',
  singular: 'tunnel',
  shortNames: ['tun'],
  scope: 'Namespaced',
  description: experimental(
    'Runs agents that forward the traffic of a Backend to a Service. Culvert creates a key, an SSHCredential and a Deployment, all owned by this resource.',
  ),
  spec: object(tunnelSpecFields, { description: 'Desired state of the tunnel.', rules: tunnelSpecRules }),
  status: object(tunnelStatusFields, { description: 'Observed state of the tunnel.' }),
  rootRules: tunnelRootRules,
  scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', labelSelector: '.status.selector' },
  printerColumns: stateColumns(
    textColumn('Backend', '.spec.backendRef.name', 'Backend whose traffic the tunnel forwards.'),
    textColumn('Service', '.spec.service.name', 'Service that receives the traffic.'),
    {
      name: 'Online',
      type: 'integer',
      jsonPath: '.status.online',
      description: 'Number of connected agents.',
    },
    {
      name: 'Wanted',
      type: 'integer',
      jsonPath: '.status.wanted',
      description: 'Desired number of agents.',
    },
    conditionColumn('Connected', 'Connected', 'Whether every agent is connected.'),
  ),
  conditions: [
    {
      type: 'Connected',
      description:
        'True when every agent is connected to the gateway and has bound the labels. False (NotConnected) otherwise; the message contains the last error if an agent gave up.',
    },
  ],
  notes: `
**Requirements.** The administrator enables tunnels (\`tunnels.enabled\` in the chart), and the account sets the address of
the SSH gateway (\`spec.sshGateway\`). \`template\` and \`agent\` also require \`tunnels.templates.enabled\`. See [traffic](../traffic.md).

**Owned objects**, in the Tunnel's namespace: the Deployment, ServiceAccount and PodDisruptionBudget \`<name>-tunnel\`, and the
Secret and SSHCredential \`<name>-tunnel-key-<number>\`; with \`agent\`, the TunnelCredential \`<name>-tunnel-token-<number>\` instead of
the last two. Culvert reverts changes to them, and they are deleted with the Tunnel.
A Tunnel's name has at most 40 characters and no dot, which the API server enforces. If an object with one of these names exists that the Tunnel does not own, Culvert does not touch it, and the Tunnel is \`Stalled\` until it is deleted.

**The key or token is replaced** after \`keyRotation.interval\`, when the annotation \`culvert.dev/rotate-requested-at\` gets a
new value, and when the Secret with the key is deleted; a lost token is reissued into the same Secret. Culvert creates the new key and credential, replaces the agents one by one,
and deletes the former key and credential a minute after the last agent was replaced.

**The number of agents** is \`spec.replicas\`. To let \`kubectl scale tunnel/<name>\` or a HorizontalPodAutoscaler that targets the
Tunnel set it, leave \`replicas\` out of the manifest. If a client scales the Deployment directly, Culvert reverts it: at first immediately, then
with a delay that doubles from one minute up to an hour, and the Tunnel reports \`Synced\` False (\`Contested\`).

**With \`agent\`**, an agent counts as connected when its Pod is Ready.

**An agent that the gateway refuses** for a minute (unknown key, a label missing from the ACL, or a host key that is not
pinned) exits, and the condition \`Connected\` shows why. Kubernetes restarts it after up to five minutes.
\`kubectl logs deployment/<name>-tunnel\` shows the details.
`,
})

/** Agents as workloads. */
export const tunnel: ComposedDescriptor = {
  role: 'composed',
  reach: 'namespace',
  definition,
  backend: 'Backend',
  credentials: { key: 'SSHCredential', token: 'TunnelCredential' },
  labelsOf: (spec) => {
    const { type, tunnelGroup } = spec as BackendSpec
    return type === 'TunnelGroup' ? (tunnelGroup?.labels ?? {}) : undefined
  },
}
