import { collections } from '../../api/collections.ts'
import type { RemoteObject } from '../../api/types.ts'
import type { Fields } from '../../managed/descriptor/common.ts'
import type { ManifestView } from '../../managed/descriptor/descriptor.ts'
import { given, listOf, objectOf, refId, refIds, textOf, textsOf } from '../building-blocks/remote.ts'

/**
 * The spec of an edge; its protocol follows from where it is. A module that is absent, or disabled and empty, is left
 * out.
 */
export function writtenEdge(edge: RemoteObject, view: ManifestView): Fields {
  const { ref } = view
  const hostports = textsOf(edge.hostports).map((hostport) => writtenHostport(hostport, view))
  const module = (name: string, write: (held: Fields) => Fields): Fields | undefined => {
    const held = objectOf(edge[name])
    if (held === undefined) return undefined
    const written = given(write(held))
    if (held.enabled !== false) return written
    return Object.keys(written).length === 0 ? undefined : { enabled: false, ...written }
  }
  return given({
    protocol: view.collection.path === collections.tlsEdges.path ? 'TLS' : 'TCP',
    hostports: hostports.length === 0 ? undefined : hostports,
    backend: module('backend', ({ backend }) =>
      refId(backend) === undefined ? {} : { ...ref('Backend', refId(backend) ?? '') },
    ),
    ipRestriction: module('ip_restriction', ({ ip_policies }) => ({
      ipPolicyRefs: refsTo('IPPolicy', refIds(ip_policies), view),
    })),
    mutualTLS: module('mutual_tls', ({ certificate_authorities }) => ({
      certificateAuthorityRefs: refsTo('CertificateAuthority', refIds(certificate_authorities), view),
    })),
    tlsTermination: module('tls_termination', ({ terminate_at, min_version }) => {
      const isUpstream = textOf(terminate_at)?.toLowerCase() === 'upstream'
      return {
        terminateAt: isUpstream ? 'Upstream' : undefined,
        minVersion: isUpstream ? undefined : textOf(min_version),
      }
    }),
    trafficPolicy: module('policy', ({ inbound, outbound }) => ({
      inbound: writtenRules(inbound),
      outbound: writtenRules(outbound),
    })),
  })
}

function refsTo(kind: string, ids: readonly string[], { ref }: ManifestView) {
  return ids.length === 0 ? undefined : ids.map((id) => ref(kind, id))
}

/** By the reservation that is written down too, else as it is. */
function writtenHostport(text: string, { nameOfValue }: ManifestView): Fields {
  const [host, port] = [
    text.slice(0, text.lastIndexOf(':')).toLowerCase(),
    Number(text.slice(text.lastIndexOf(':') + 1)),
  ]
  const address = nameOfValue('ReservedAddress', text.toLowerCase())
  if (address !== undefined) return { type: 'ReservedAddress', reservedAddressRef: { name: address } }
  const domain = nameOfValue('ReservedDomain', host)
  if (domain !== undefined) return { type: 'ReservedDomain', reservedDomainRef: { name: domain }, port }
  return { type: 'Host', host, port }
}

function writtenRules(rules: unknown): readonly Fields[] | undefined {
  const written = listOf(rules).map((rule) => {
    const { name, expressions, actions } = objectOf(rule) ?? {}
    const held = listOf(actions).map((action) => {
      const { type, config } = objectOf(action) ?? {}
      return given({ type: textOf(type), config: objectOf(config) })
    })
    return given({
      name: textOf(name),
      expressions: textsOf(expressions).length === 0 ? undefined : textsOf(expressions),
      actions: held.length === 0 ? undefined : held,
    })
  })
  return written.length === 0 ? undefined : written
}
