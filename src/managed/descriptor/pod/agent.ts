import type { Static } from 'typebox'
import { object } from '../../../schema/define.ts'
import { commandFields, env, image, probe } from './container.ts'

/** `spec.agent` of a Tunnel: an agent by another image than Culvert's, which speaks the service's own protocol. */
export const foreignAgent = object(
  {
    image,
    ...commandFields,
    env,
    readinessProbe: probe(
      'When the agent counts as connected. Default: as soon as it runs, whether or not it has a session.',
    ),
    livenessProbe: probe('When the agent is started again. Default: when it ends.'),
  },
  {
    description:
      'An agent of the service itself, in place of `culvert agent`. Culvert makes a TunnelCredential that permits exactly the labels of the Backend, and starts the agents anew when its token changes. In `args`, `command` and `env` may stand `$(CULVERT_TOKEN)`: the token; `$(CULVERT_TOKEN_FILE)`: a file with it; `$(CULVERT_LABELS)`: the labels as `app=shop,version=1`; `$(CULVERT_UPSTREAM)`: the Service as `host:port`, also as `$(CULVERT_UPSTREAM_HOST)` and `$(CULVERT_UPSTREAM_PORT)`. The administrator permits it and lists its image (`tunnels.templates` of the chart), and its author may have to be allowed to create Deployments. Default: `culvert agent`.',
  },
)

export type ForeignAgent = Static<typeof foreignAgent>
