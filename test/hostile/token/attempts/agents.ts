import { type Attempt, mark, type Scene, thing } from '../support/attempt.ts'

const CONFINED = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
const AGENT = { name: 'agent', image: 'registry.example.com/agents/own:1', securityContext: CONFINED }
/** Pods that the policy admits. */
const PERMITTED = {
  serviceAccountName: 'stolen',
  automountServiceAccountToken: false,
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [AGENT],
}
const WITHOUT_RIGHTS = 'gives agents no token, nothing of the host, and no rights beyond the standard restricted'
const WITHOUT_SECRETS = 'gives agents no Secrets but keys, and the token that a Tunnel has'
const PAYROLL = { secretKeyRef: { name: 'payroll', key: 'a' } }
const agentWith = (more: object): object => ({ containers: [{ ...AGENT, ...more }] })

/** What not even the template of a Tunnel gives Pods. */
const BEYOND: Readonly<Record<string, { readonly change: object; readonly says: string }>> = {
  'with a container beside it by another image': {
    change: { containers: [AGENT, { ...AGENT, name: 'side', image: 'registry.example.com/agents' }] },
    says: 'runs only agents, by images of the administrator',
  },
  'with an init container': {
    change: { initContainers: [{ ...AGENT, name: 'first' }] },
    says: 'runs only agents, by images of the administrator',
  },
  'as another ServiceAccount': { change: { serviceAccountName: 'default' }, says: WITHOUT_RIGHTS },
  'with a token': { change: { automountServiceAccountToken: true }, says: WITHOUT_RIGHTS },
  'on the network of the host': { change: { hostNetwork: true }, says: WITHOUT_RIGHTS },
  'with a capability': {
    change: agentWith({ securityContext: { ...CONFINED, capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } } }),
    says: WITHOUT_RIGHTS,
  },
  'on a port of the host': {
    change: agentWith({ ports: [{ containerPort: 80, hostPort: 80 }] }),
    says: WITHOUT_RIGHTS,
  },
  'with a folder of the host': {
    change: { volumes: [{ name: 'a', hostPath: { path: '/' } }] },
    says: WITHOUT_SECRETS,
  },
  'with a projected token': {
    change: { volumes: [{ name: 'a', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] },
    says: WITHOUT_SECRETS,
  },
  'with a Secret in its environment': {
    change: agentWith({ env: [{ name: 'A', valueFrom: PAYROLL }] }),
    says: WITHOUT_SECRETS,
  },
  'with all of a Secret in its environment': {
    change: agentWith({ envFrom: [{ secretRef: { name: 'payroll' } }] }),
    says: WITHOUT_SECRETS,
  },
}

const labels = { app: 'stolen' }

/** Deployments of a Tunnel that the operator never writes, whatever the template, and what is said of them. */
export const agentAttempts = Object.entries(BEYOND).map(([what, { change, says }]) => {
  const attempt = (scene: Scene): Attempt => ({
    verb: 'create',
    on: thing('/apis/apps/v1', 'deployments', 'stolen', scene.tenant, {
      kind: 'Deployment',
      metadata: mark(scene, 'Tunnel'),
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { ...PERMITTED, ...change } },
      },
    }),
  })
  return [`run a Deployment that a Tunnel owns, ${what}`, attempt, says] as const
})
