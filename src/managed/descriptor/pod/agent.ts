import type { Static } from 'typebox'
import { object } from '../../../schema/define.ts'
import { commandFields, env, image, probe } from './container.ts'

/** `spec.agent` of a Tunnel: an agent from an image other than Culvert's, which speaks the service's own protocol. */
export const foreignAgent = object(
  {
    image,
    ...commandFields,
    env,
    readinessProbe: probe(
      'Readiness probe of the container. An agent counts as connected while its Pod is Ready. Default: none; the agent is ready as soon as it runs, with or without a session.',
    ),
    livenessProbe: probe('Liveness probe of the container. Default: none; the agent is restarted only when it exits.'),
  },
  {
    description:
      "Runs the service's own agent instead of `culvert agent`. Culvert creates a TunnelCredential that permits exactly the labels of the Backend, and restarts the agents when its token changes. These variables are expanded in `args`, `command` and `env`: `$(CULVERT_TOKEN)`, the token; `$(CULVERT_TOKEN_FILE)`, a file that contains it; `$(CULVERT_LABELS)`, the labels as `app=shop,version=1`; `$(CULVERT_UPSTREAM)`, the Service as `host:port`, also as `$(CULVERT_UPSTREAM_HOST)` and `$(CULVERT_UPSTREAM_PORT)`. The administrator must enable this and list the image (`tunnels.templates` in the chart); an admission policy may require the right to create Deployments. Default: `culvert agent`.",
  },
)

export type ForeignAgent = Static<typeof foreignAgent>
