import { DESCRIBED_WITHOUT_LIMITS, SHOWN_TEXTS } from '../fields/common.ts'
import { optional } from '../fields/field.ts'
import { REFS, TEXT_MAP } from '../fields/json-schema.ts'
import { mapOf, string } from '../fields/readers.ts'
import { textOf } from '../json.ts'
import type { Resource } from './resource.ts'

/**
 * Backends that select the tunnels with all their labels; one without labels selects none (`api-decisions.md § Agents
 * and tunnel sessions in the emulator`).
 */
export const tunnelGroupBackends: Resource = {
  path: 'backends/tunnel_group',
  listKey: 'backends',
  idPrefix: 'bkdtg',
  eventName: 'tunnel_group_backend',
  served: true,
  fields: { ...DESCRIBED_WITHOUT_LIMITS, labels: optional(mapOf(string), {}) },
  shows: { ...SHOWN_TEXTS, labels: TEXT_MAP, tunnels: REFS },
  render: (backend, view) => ({
    description: textOf(backend, 'description'),
    metadata: textOf(backend, 'metadata'),
    labels: backend.labels ?? {},
    tunnels: view.labelled(backend.labels),
  }),
}
