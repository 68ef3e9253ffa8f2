import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { Fields } from '../../managed/descriptor/common.ts'
import { bool, choice, integer, list, object, text } from '../../schema/define.ts'
import { cut } from '../../util/printable.ts'
import {
  given,
  ID_LENGTH,
  listOf,
  objectOf,
  refId,
  refIds,
  shownIds,
  sorted,
  textOf,
} from '../building-blocks/remote.ts'

/** A module of an edge, as the spec names it. */
export type ModuleField = 'backend' | 'ipRestriction' | 'trafficPolicy' | 'mutualTLS' | 'tlsTermination'

/** Twice what a spec may have, since changes made outside Culvert may add some. */
const REFERENCES = 128
const VERSION_LENGTH = 63

const enabled = bool({ description: 'Whether the module is applied to traffic.' })

function ids(what: string) {
  return Type.Optional(
    list(text({ description: 'Id of one of them.', maxLength: ID_LENGTH }), {
      description: `Ids of its ${what}; at most ${REFERENCES} are shown.`,
      maxItems: REFERENCES,
    }),
  )
}

/** Status field of Edges: their modules. */
export const moduleStatus = {
  modules: Type.Optional(
    object(
      {
        backend: Type.Optional(
          object(
            { enabled, backendID: Type.Optional(text({ description: 'Id of the backend.', maxLength: ID_LENGTH })) },
            { description: 'Where traffic goes.' },
          ),
        ),
        ipRestriction: Type.Optional(
          object({ enabled, ipPolicyIDs: ids('IP policies') }, { description: 'Which addresses are let in.' }),
        ),
        trafficPolicy: Type.Optional(
          object(
            {
              enabled,
              inboundRules: integer({ description: 'How many rules it has for inbound traffic.', minimum: 0 }),
              outboundRules: integer({ description: 'How many rules it has for outbound traffic.', minimum: 0 }),
            },
            { description: 'Rules that act on traffic.' },
          ),
        ),
        mutualTLS: Type.Optional(
          object(
            { enabled, certificateAuthorityIDs: ids('certificate authorities') },
            { description: 'Which client certificates are accepted.' },
          ),
        ),
        tlsTermination: Type.Optional(
          object(
            {
              enabled,
              terminateAt: Type.Optional(
                choice(['Edge', 'Upstream'], { description: 'Where TLS is terminated, as in the spec.' }),
              ),
              minVersion: Type.Optional(
                text({
                  description:
                    'Lowest TLS version that clients may use, as the API names it; if the spec names none, the one that the service chose, if it reports it.',
                  maxLength: VERSION_LENGTH,
                }),
              ),
            },
            { description: 'Where TLS is terminated.' },
          ),
        ),
      },
      {
        description:
          'The modules that the edge has at the API, regardless of who set them. A module that is absent was never set.',
      },
    ),
  ),
}

/** What the status shows of each module, read from the module as returned. */
const shown: Readonly<Record<ModuleField, { readonly name: string; readonly fields: (module: Fields) => Fields }>> = {
  backend: { name: 'backend', fields: ({ backend }) => ({ backendID: shownIds([refId(backend) ?? ''], 1)[0] }) },
  ipRestriction: {
    name: 'ip_restriction',
    fields: ({ ip_policies }) => ({ ipPolicyIDs: shownIds(sorted(refIds(ip_policies)), REFERENCES) }),
  },
  trafficPolicy: {
    name: 'policy',
    fields: ({ inbound, outbound }) => ({
      inboundRules: listOf(inbound).length,
      outboundRules: listOf(outbound).length,
    }),
  },
  mutualTLS: {
    name: 'mutual_tls',
    fields: ({ certificate_authorities }) => ({
      certificateAuthorityIDs: shownIds(sorted(refIds(certificate_authorities)), REFERENCES),
    }),
  },
  tlsTermination: {
    name: 'tls_termination',
    fields: ({ terminate_at, min_version }) => ({
      terminateAt: placeOf(terminate_at),
      minVersion: cutText(min_version),
    }),
  },
}

/** Value of the status field; undefined for an edge without modules. */
export function shownModules(remote: RemoteObject): Fields | undefined {
  const modules = Object.entries(shown).flatMap(([field, { name, fields }]): readonly [string, Fields][] => {
    const module = objectOf(remote[name])
    // `enabled` is true when unspecified.
    return module === undefined ? [] : [[field, given({ enabled: module.enabled !== false, ...fields(module) })]]
  })
  return modules.length === 0 ? undefined : Object.fromEntries(modules)
}

function placeOf(value: unknown): 'Edge' | 'Upstream' | undefined {
  switch (textOf(value)?.toLowerCase()) {
    case 'edge':
      return 'Edge'
    case 'upstream':
      return 'Upstream'
    default:
      return undefined
  }
}

function cutText(value: unknown): string | undefined {
  const found = textOf(value)
  return found === undefined ? undefined : cut(found, VERSION_LENGTH)
}
