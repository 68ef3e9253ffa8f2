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
    'Agents that carry the traffic of a Backend to a Service. Culvert makes a key, an SSHCredential and a Deployment, all owned by this resource.',
  ),
  spec: object(tunnelSpecFields, { description: 'Which traffic goes to which Service.', rules: tunnelSpecRules }),
  status: object(tunnelStatusFields, { description: 'Observed state of the tunnel.' }),
  rootRules: tunnelRootRules,
  scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', labelSelector: '.status.selector' },
  printerColumns: stateColumns(
    textColumn('Backend', '.spec.backendRef.name', 'The Backend whose traffic it carries.'),
    textColumn('Service', '.spec.service.name', 'The Service that it carries it to.'),
    {
      name: 'Online',
      type: 'integer',
      jsonPath: '.status.online',
      description: 'Number of agents that are connected.',
    },
    {
      name: 'Wanted',
      type: 'integer',
      jsonPath: '.status.wanted',
      description: 'Number of agents that there should be.',
    },
    conditionColumn('Connected', 'Connected', 'Whether every agent is connected.'),
  ),
  conditions: [
    {
      type: 'Connected',
      description:
        'True when every agent is connected to the gateway and has bound the labels. False (NotConnected) otherwise; the message has the last error of an agent, if one gave up.',
    },
  ],
  notes: `
**What it needs.** The administrator enables tunnels (\`tunnels.enabled\` of the chart), and the account says where the
SSH gateway is (\`spec.sshGateway\`). \`template\` and \`agent\` need \`tunnels.templates.enabled\` too. See [traffic](../traffic.md).

**What it owns**, in its namespace: the Deployment, ServiceAccount and PodDisruptionBudget \`<name>-tunnel\`, and the Secret
and the SSHCredential \`<name>-tunnel-key-<number>\`; with \`agent\`, the TunnelCredential \`<name>-tunnel-token-<number>\` in place of
these two. They are kept as Culvert makes them, and are deleted with the Tunnel.
A Tunnel's name has at most 40 characters and no dot, which the API server enforces. An object of such a name that the Tunnel does not own is left alone, and the Tunnel is \`Stalled\` until it is gone.

**The key or token is replaced** when \`keyRotation.interval\` is over, when the annotation \`culvert.dev/rotate-requested-at\` gets
a new value, and when the Secret of the key was deleted; a lost token is issued anew in the same Secret. New key and credential come first, then the agents are replaced one by one;
a minute after the last, the former key and credential are deleted.

**The number of agents** is \`spec.replicas\`, which \`kubectl scale tunnel/<name>\` and a HorizontalPodAutoscaler that targets the
Tunnel set too. Leave \`replicas\` out of the manifest then. A client that scales the Deployment itself is undone: at first at once, then
after a minute, and each time after twice as long, up to an hour; the Tunnel says so with \`Synced\` False (\`Contested\`).

**With \`agent\`**, an agent counts as connected when its Pod is Ready.

**An agent that the gateway refuses** for a minute, because it does not know the key, the ACL lacks a label or the host
key is not pinned, ends with the reason, which the condition \`Connected\` shows. Kubernetes starts it again, after up to five
minutes. \`kubectl logs deployment/<name>-tunnel\` shows the rest.
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
